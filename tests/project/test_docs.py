"""What the documentation shows works: its code runs, its generated parts are fresh, the site loads nothing."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.project.pages import Block, Command, blocks, commands, matches

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONSOLE = ("bash", "console", "sh", "shell")
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def runnable() -> list[tuple[str, Block, Command]]:
    return [
        (name, block, command)
        for name, page in zip(NAMES, PAGES, strict=True)
        for block in blocks(page)
        if block.language in CONSOLE and block.mark != "skip"
        for command in commands(block)
        if command.line.startswith(("bmsql", "make ask"))
    ]


def without_make(line: str) -> str:
    """The bmsql command that `make ask Q=... ARGS=...` runs; test_makefile.py shows that it does."""
    variables = dict(word.split("=", 1) for word in shlex.split(line)[2:])
    return f"bmsql ask {variables.get('ARGS', '')} -- {shlex.quote(variables['Q'])}"


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line as a reader would, in an empty folder."""
    tools = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100", "NO_COLOR": "1"}
    line = without_make(line) if line.startswith("make ask") else line
    return subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(("name", "page"), list(zip(NAMES, PAGES, strict=True)), ids=NAMES)
def test_python_blocks_run_in_order(name: str, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language == "python" and block.mark != "skip":
            # Blank lines in front make a traceback name the page's own line.
            source = "\n" * block.line + block.text
            # A page does not inherit the future statements of this file.
            exec(compile(source, name, "exec", dont_inherit=True), namespace)


# The pages that people begin with are tried at once, the others' commands with all else that takes long.
FIRST_PAGES = ("README.md", "docs/index.md")


@pytest.mark.parametrize(
    ("name", "block", "command"),
    [
        pytest.param(
            name, block, command, id=f"{name}:{block.line}", marks=() if name in FIRST_PAGES else pytest.mark.all
        )
        for name, block, command in runnable()
    ],
)
def test_console_blocks_run(name: str, block: Block, command: Command, tmp_path: Path) -> None:
    done = run(command.line, tmp_path)
    assert done.returncode == 0, f"{name}:{block.line}: {command.line}\n{done.stderr}"
    if block.mark == "output":
        assert matches(command.shown, done.stdout), f"{name}:{block.line}: {command.line}\nprinted:\n{done.stdout}"


def test_readme_and_start_page_show_a_first_question() -> None:
    shown = {name for name, _, command in runnable() if command.line.startswith("make ask")}
    assert set(FIRST_PAGES) <= shown


def gen_docs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_docs", ROOT / "scripts/gen_docs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.all
@pytest.mark.parametrize("generator", sorted(gen_docs().GENERATORS))
def test_generated_parts_are_fresh(generator: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gen_docs().main(["--check", "--only", generator]) == 0, capsys.readouterr().err


def test_generating_replaces_what_is_between_the_markers_only() -> None:
    text = "a\n\n<!-- generated:x -->\n\nold\n\n<!-- /generated:x -->\n\nb\n"
    new = gen_docs().render(text, {"x": "new\nlines"})
    assert new == text.replace("old", "new\nlines")
    assert gen_docs().render(new, {"x": "new\nlines"}) == new
    assert gen_docs().render(text, {}) == text
    assert gen_docs().render(text.replace("old\n\n", ""), {"x": "new"}) == text.replace("old", "new")


@pytest.mark.parametrize(
    "text",
    [
        "<!-- generated:x -->\nold\n",
        "old\n<!-- /generated:x -->\n",
        "<!-- generated:x -->\nold\n<!-- /generated:y -->\n",
        "<!-- generated:x --> old <!-- /generated:x -->\n",
    ],
)
def test_a_marker_without_its_counterpart_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="x"):
        gen_docs().render(text, {"x": "new"})


def test_stale_pages_are_found_and_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = gen_docs()
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs/page.md"
    (tmp_path / "README.md").write_text("no parts here\n")
    page.write_text("<!-- generated:x -->\n\nold\n\n<!-- /generated:x -->\n")
    monkeypatch.setattr(generator, "ROOT", tmp_path)
    monkeypatch.setattr(generator, "GENERATORS", {"x": lambda: "new"})
    assert generator.main(["--check"]) == 1
    assert "+new" in capsys.readouterr().err
    assert "old" in page.read_text()
    assert generator.main([]) == 0
    assert "new" in page.read_text()
    assert generator.main(["--check"]) == 0
    monkeypatch.setattr(generator, "GENERATORS", {"x": lambda: "new", "unused": lambda: ""})
    assert generator.main(["--check"]) == 1
    assert "unused" in capsys.readouterr().err


@pytest.mark.all
def test_the_site_builds_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert built.returncode == 0, built.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) >= len(PAGES) - 1
    loading = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"?(https?:)?//|<link\b[^>]*\brel=\"?(?:stylesheet|preconnect|preload)[^>]*\bhref=\"?(https?:)?//"
    )
    assert [page.name for page in pages if loading.search(page.read_text(encoding="utf-8"))] == []


def test_blocks_are_read_with_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "text\n\n```python\na = 1\n```\n\n"
        "- item\n\n  ````console\n  $ bmsql ask \\\n      'q'\n  one\n\n  $ ls\n  ````\n\n"
        '<!-- test: skip needs a key -->\n```python title="x"\nboom()\n```\n'
    )
    first, second, third = blocks(page)
    assert (first.language, first.text, first.line, first.mark) == ("python", "a = 1", 3, "")
    assert [(command.line, command.shown.strip()) for command in commands(second)] == [
        ("bmsql ask \\\n    'q'", "one"),
        ("ls", ""),
    ]
    assert (third.mark, third.reason, third.text) == ("skip", "needs a key", "boom()")
    page.write_text("<!-- test: skip -->\n```python\n```\n")
    with pytest.raises(ValueError, match="reason"):
        blocks(page)
    page.write_text("```python\n")
    with pytest.raises(ValueError, match="not closed"):
        blocks(page)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a  \nb\n", True),
        ("a\n...\nc", "a\nb\nb\nc", True),
        ("took ... ms", "took 12 ms", True),
        ("a", "a\nb", False),
        ("a.c", "abc", False),
    ],
)
def test_shown_output_is_compared(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same
