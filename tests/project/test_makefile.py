"""`make ask` hands the question over exactly as written, and the environment is made only when needed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")

QUESTIONS = [
    "Which SNPs near BIN1 are significantly associated with Alzheimer's disease?",
    'Is "rs429358" significant?',
    "costs $5, $HOME, $$, $(HOME), ${HOME} and $(shell touch touched)",
    "`touch touched`; touch touched && touch touched | touch touched > touched",
    "$(touch touched) 'unbalanced",
    'and "unbalanced',
    "back\\slashes \\n and a last one \\",
    "# not a comment, 100 % certain, a = b, a := b, a: b",
    "-- --json --help",
    "spaces   kept  ",
    "β-amyloid ≥ 5·10⁻⁸, 日本語",
    "two\nlines\tand a tab",
    "*",
    "~ {a,b} [x] !! ^ & <in >out",
]

# A stand-in for the interpreter that writes down what it was called with.
FAKE_PYTHON = """#!/bin/sh
case "$1" in -c) printf '%s\\n' "${FAKE_VERSION:-3.11}" ;; esac
for argument in "$@"; do printf '%s\\0' "$argument" >> calls; done
"""
MAKE_VENV = 'mkdir -p .venv/bin; cp "${0%/*}/fake" .venv/bin/python'


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A checkout whose path has a space and a quote, with an environment that only looks like one."""
    copy = tmp_path / "it's a checkout"
    for name in ("Makefile", "pyproject.toml", "src/bmsql/_version.py", "scripts/environment.sh"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, copy / name)
    python = copy / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    for stamp in (".run-ready", ".dev-ready"):
        (copy / ".venv" / stamp).write_text(f"{copy.resolve()}\n")
    return copy


def run_make(checkout: Path, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")
    }
    return subprocess.run(
        ["make", *arguments], cwd=checkout, env={**environment, **extra}, capture_output=True, text=True, timeout=60
    )


def calls(checkout: Path) -> list[str]:
    return (checkout / "calls").read_text().split("\0")[:-1] if (checkout / "calls").exists() else []


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("way", ["argument", "environment"])
def test_the_question_arrives_unharmed(checkout: Path, question: str, way: str) -> None:
    extra: Mapping[str, str] = {"Q": question} if way == "environment" else {}
    arguments = [f"Q={question}"] if way == "argument" else []
    done = run_make(checkout, "ask", "ARGS=--json", *arguments, **extra)
    assert done.returncode == 0, done.stderr
    assert calls(checkout) == ["-m", "bmsql", "ask", "--json", "--", question]
    assert not list(checkout.rglob("touched"))
    assert done.stdout == ""


def test_without_a_question_it_says_how_and_installs_nothing(checkout: Path) -> None:
    (checkout / ".venv/.run-ready").unlink()
    done = run_make(checkout, "ask")
    assert done.returncode != 0
    assert 'make ask Q="' in done.stderr
    assert calls(checkout) == []


@pytest.mark.parametrize(
    ("change", "target", "installs"),
    [
        ("nothing", "ask", ""),
        ("newer pyproject.toml", "ask", ".[fast]"),
        ("newer pyproject.toml", "lint", ".[dev]"),
        ("moved", "ask", ".[fast]"),
        ("only run", "ask", ""),
        ("only run", "lint", ".[dev]"),
    ],
)
def test_it_installs_when_something_changed_and_only_then(
    checkout: Path, change: str, target: str, installs: str
) -> None:
    if change == "newer pyproject.toml":
        later = (checkout / ".venv/.run-ready").stat().st_mtime + 10
        os.utime(checkout / "pyproject.toml", (later, later))
    elif change == "moved":
        checkout = checkout.rename(checkout.with_name("moved to here"))
    elif change == "only run":
        (checkout / ".venv/.dev-ready").unlink()
    done = run_make(checkout, target, "Q=x")
    if target == "ask":
        assert done.returncode == 0, done.stderr
    called = calls(checkout)
    assert ("install" in called) == bool(installs)
    if installs:
        assert called[called.index("-e") + 1] == installs
        home = (checkout / f".venv/.{'run' if target == 'ask' else 'dev'}-ready").read_text().strip()
        assert home == str(checkout.resolve())


def test_a_failed_installation_leaves_no_stamp(checkout: Path) -> None:
    (checkout / ".venv/.run-ready").unlink()
    python = checkout / ".venv/bin/python"
    python.write_text(FAKE_PYTHON + '\ncase "$*" in *install*) exit 7 ;; esac\n')
    done = run_make(checkout, "ask", "Q=x")
    assert done.returncode != 0
    assert not (checkout / ".venv/.run-ready").exists()
    assert "bmsql" not in calls(checkout)


def test_an_unsupported_python_is_refused_with_the_reason(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    old = checkout / "old python"
    old.write_text(FAKE_PYTHON)
    old.chmod(0o755)
    done = run_make(checkout, "ask", "Q=x", f"PYTHON={old}", FAKE_VERSION="3.9")
    assert done.returncode != 0
    assert "needs Python 3.11, 3.12 or 3.13" in done.stderr
    assert f"{old} is Python 3.9" in done.stderr
    assert not (checkout / ".venv").exists()


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with the plain tools of any machine, to be a whole PATH: no Python, no uv."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "make", "cat", "dirname", "mkdir", "cp", "rm", "sed"):
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(found)
    return folder


def write_tool(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def test_pythons_are_looked_for_by_name_and_run(checkout: Path, tools: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    write_tool(tools / "python3.13", "#!/bin/sh\necho 'shim: not installed' >&2; exit 127\n")
    write_tool(tools / "python3", "#!/bin/sh\necho 3.9\n")
    done = run_make(checkout, "ask", "Q=x", PATH=str(tools))
    assert done.returncode != 0
    assert "python3 is Python 3.9" in done.stderr
    # One that is right, but cannot make environments, is named with the remedy; one that can is taken.
    write_tool(tools / "python3.12", "#!/bin/sh\ncase $2 in *ensurepip*) exit 1 ;; esac; echo 3.12\n")
    done = run_make(checkout, "ask", "Q=x", PATH=str(tools))
    assert "apt-get install python3.12-venv" in done.stderr
    write_tool(tools / "fake", FAKE_PYTHON)
    write_tool(tools / "python3.11", f'#!/bin/sh\ncase "$2" in venv) {MAKE_VENV} ;; *) echo 3.11 ;; esac\n')
    done = run_make(checkout, "ask", "Q=x", PATH=str(tools))
    assert done.returncode == 0, done.stderr
    assert calls(checkout)[-5:] == ["-m", "bmsql", "ask", "--", "x"]


def test_uv_installs_when_asked_for(checkout: Path, tools: Path) -> None:
    shutil.rmtree(checkout / ".venv")
    write_tool(tools / "python3.11", "#!/bin/sh\necho 3.11\n")
    done = run_make(checkout, "ask", "Q=x", "UV=1", PATH=str(tools))
    assert done.returncode != 0
    assert "uv, which is not installed" in done.stderr
    write_tool(tools / "fake", FAKE_PYTHON)
    write_tool(tools / "uv", f'#!/bin/sh\necho "$@" >> uv-calls\ncase "$1" in venv) {MAKE_VENV} ;; esac\n')
    done = run_make(checkout, "ask", "Q=x", "UV=1", PATH=str(tools))
    assert done.returncode == 0, done.stderr
    assert (checkout / "uv-calls").read_text().splitlines() == [
        f"venv --quiet --seed --python {tools}/python3.11 .venv",
        "pip install --quiet --python .venv/bin/python -e .[fast]",
    ]
    assert calls(checkout)[-5:] == ["-m", "bmsql", "ask", "--", "x"]


def test_help_lists_every_documented_target(checkout: Path) -> None:
    shown = run_make(checkout).stdout
    for target in ("ask", "test", "test-all", "lint", "docs", "bench", "clean", "help"):
        assert f"make {target} " in shown
    assert calls(checkout) == []
