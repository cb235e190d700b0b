"""A real BigQuery emulator in an environment of its own, installed once per checkout and started for the tests.

local-bigquery is the better stand-in and needs Python 3.13; where that is absent, bqemulator runs instead,
and `Emulator.note` says so. Both want extensions of DuckDB when they start and would load them from elsewhere:
they come as packages instead, and are copied to where DuckDB looks, in a home directory made for it.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bmsql.backends._lock import file_lock

PROJECT = "bmsql-test"
BUILD = Path(__file__).parents[2] / "build" / "emulators"
DUCKDB = "1.5.5"
INSTALL_SECONDS = 420
START_SECONDS = 90


@dataclass(frozen=True)
class Kind:
    """An emulator: its package, the extensions it wants, how it is started."""

    name: str
    version: str
    extensions: tuple[str, ...]
    command: tuple[str, ...]


LOCAL_BIGQUERY = Kind(
    "local-bigquery",
    "0.3.2",
    ("spatial", "ducklake", "icu"),
    ("local-bigquery", "serve", "--host", "127.0.0.1", "--port", "{port}", "--grpc-port", "{grpc}",
     "--data-dir", "{data}", "--project", PROJECT),
)  # fmt: skip
BQEMULATOR = Kind(
    "bqemulator",
    "1.4.0",
    ("spatial", "icu"),
    ("bqemulator", "start", "--rest-port", "{port}", "--grpc-port", "{grpc}", "--data-dir", "{data}",
     "--project", PROJECT, "--log-level", "warning"),
)  # fmt: skip


class CannotInstall(Exception):  # noqa: N818 - a reason to skip
    """No emulator can be installed here; the text says why."""


@dataclass(frozen=True)
class Emulator:
    """A running emulator. `note` is empty for the better one."""

    kind: Kind
    url: str
    note: str


@contextmanager
def running(data: Path) -> Iterator[Emulator]:
    """An emulator over an empty data directory, stopped at the end.

    Raises CannotInstall where there is none, RuntimeError when an installed one does not start.
    """
    kind, home, note = installed()
    port, grpc = free_port(), free_port()
    names = {"port": str(port), "grpc": str(grpc), "data": str(data)}
    command = [part.format(**names) for part in kind.command]
    environment = {**os.environ, "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    log = data.with_suffix(".log")
    with log.open("w") as out:
        process = subprocess.Popen(
            [str(home / "venv" / "bin" / command[0]), *command[1:]], env=environment, stdout=out, stderr=out
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process, log)
            yield Emulator(kind, url, note)
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def installed() -> tuple[Kind, Path, str]:
    """The emulator for this machine, its home with the environment in it, and a note on the choice."""
    if platform.system() != "Linux":
        raise CannotInstall("DuckDB's extensions are taken from packages for Linux")
    python = python_3_13()
    kind = LOCAL_BIGQUERY if python else BQEMULATOR
    note = "" if python else "There is no Python 3.13 for local-bigquery, so bqemulator plays BigQuery: it knows less."
    home = BUILD / f"{kind.name}-{kind.version}"
    home.mkdir(parents=True, exist_ok=True)
    with file_lock(home / "lock", seconds=INSTALL_SECONDS + 60):
        if not (home / "ready").exists():
            _install(kind, home, python or sys.executable)
            (home / "ready").touch()
    return kind, home, note


def python_3_13() -> str:
    """A Python 3.13 that runs, or an empty text."""
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    candidates = [sys.executable, shutil.which("python3.13") or ""]
    candidates += [str(path) for root in roots if root for path in Path(root).glob("versions/3.13*/bin/python3.13")]
    for candidate in filter(None, candidates):
        test = "import sys, venv, ensurepip; raise SystemExit(sys.version_info[:2] != (3, 13))"
        try:
            done = subprocess.run([candidate, "-c", test], capture_output=True, timeout=30)
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return candidate
    return ""


def _install(kind: Kind, home: Path, python: str) -> None:
    venv = home / "venv"
    shutil.rmtree(venv, ignore_errors=True)
    packages = [f"{kind.name}=={kind.version}", f"duckdb=={DUCKDB}"]
    packages += [f"duckdb-extension-{name}=={DUCKDB}" for name in kind.extensions]
    deadline = time.monotonic() + INSTALL_SECONDS
    for command in (
        [python, "-m", "venv", str(venv)],
        [str(venv / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages],
    ):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as e:
            raise CannotInstall(f"installing {kind.name} took longer than {INSTALL_SECONDS} s") from e
        if done.returncode:
            raise CannotInstall(f"{kind.name} cannot be installed: {done.stderr.strip()[-500:]}")
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    target = home / ".duckdb" / "extensions" / f"v{DUCKDB}" / f"linux_{machine}"
    target.mkdir(parents=True, exist_ok=True)
    for file in venv.rglob("*.duckdb_extension"):
        shutil.copy(file, target)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"{url}/bigquery/v2/projects/{PROJECT}/datasets", timeout=5).read()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"the emulator did not start: {log.read_text()[-2000:]}")
