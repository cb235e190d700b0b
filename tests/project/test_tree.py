"""The tree as a whole: nothing unfinished, nothing of one person's machine, versions that agree, a whole package."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import bmsql

TEXT = {".cfg", ".css", ".html", ".ini", ".ipynb", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml", ""}
# Written in pieces, so that this file does not find itself.
UNFINISHED = re.compile("|".join([r"\bTO" + "DO", r"\bFIX" + "ME", r"\bXX" + r"X\b", "NotImplemented" + "Error"]))
PLACES = re.compile(
    "|".join(
        [
            r"/wo" + "rk/",
            r"/ro" + r"ot\b",
            r"/ho" + r"me/\w",
            r"/Us" + r"ers/\w",
            r"\bpy" + r"pi\.org",
            r"python" + r"hosted\.org",
            r"registry\.np" + r"mjs",
            r"deb\.deb" + r"ian",
        ]
    )
)


def files(root: Path) -> list[Path]:
    """Return the project's own files: what git knows or would add."""
    if shutil.which("git") is None or not (root / ".git").exists():
        pytest.skip("needs a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    paths = (root / name for name in listed.stdout.decode().split("\0") if name)
    return sorted(path for path in paths if path.is_file())


@pytest.mark.parametrize("pattern", [UNFINISHED, PLACES], ids=["unfinished", "places"])
def test_nothing_unfinished_and_nobodys_machine(root: Path, pattern: re.Pattern[str]) -> None:
    looked_at = [path for path in files(root) if path.suffix in TEXT]
    assert len(looked_at) > 20
    hits = [
        f"{path.relative_to(root)}:{number}: {line.strip()[:100]}"
        for path in looked_at
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert hits == []


def test_modules_stay_short(root: Path) -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in (root / "src").rglob("*.py")}
    assert {str(path): count for path, count in lengths.items() if count > 400} == {}


def test_text_files_end_with_one_newline_and_have_no_carriage_returns(root: Path) -> None:
    odd = []
    for path in files(root):
        # Data are kept as they came.
        data = path.read_bytes() if path.suffix in TEXT - {".json", ".txt"} else b""
        if data and (b"\r" in data or not data.endswith(b"\n") or data.endswith(b"\n\n")):
            odd.append(str(path.relative_to(root)))
    assert odd == []


def test_versions_agree(root: Path) -> None:
    assert version("bmsql") == bmsql.__version__
    assert re.search(rf"^## \[{re.escape(bmsql.__version__)}\]", (root / "CHANGELOG.md").read_text(), re.MULTILINE)


@pytest.mark.filterwarnings("ignore:A test tried to use socket")
def test_sockets_to_other_hosts_are_blocked() -> None:
    import socket

    from pytest_socket import SocketConnectBlockedError

    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        with socket.create_connection(server.getsockname(), timeout=5):
            pass
        # Another loopback address stands for any other host: nothing leaves this machine if the guard is off.
        with socket.socket() as client, pytest.raises(SocketConnectBlockedError):
            client.connect(("127.0.0.2", server.getsockname()[1]))


@pytest.mark.all
def test_the_wheel_is_complete_and_works(root: Path, tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(tmp_path)],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    (_sdist,) = tmp_path.glob("*.tar.gz")
    assert f"-{bmsql.__version__}-py3-none-any" in wheel.name
    source = root / "src"
    wanted = {path.relative_to(source).as_posix() for path in files(root) if source in path.parents}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "unpacked")
    assert wanted - names == set()
    assert "bmsql/py.typed" in names
    assert {name.split("/")[0] for name in names} == {"bmsql", f"bmsql-{bmsql.__version__}.dist-info"}
    # From the unpacked wheel alone: `-I` would drop the path, `-P` only the folder we stand in.
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'unpacked')!r}); import bmsql; print(bmsql.__file__)"
    done = subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout
