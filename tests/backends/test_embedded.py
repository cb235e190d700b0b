"""The embedded knowledge base is built once, whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from bmsql.backends import EmbeddedFile, _embedded, ensure_embedded, open_embedded
from bmsql.backends._lock import file_lock
from bmsql.errors import KnowledgeBaseError

_TABLE = "DrugTargets_LiscensingAndUses"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("BMSQL_CACHE_DIR", str(folder))
    return folder


def _python(code: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def _works() -> bool:
    with open_embedded() as backend:
        return backend._run(lambda cursor: cursor.execute(f"SELECT count(*) FROM {_TABLE}").fetchone(), 30) == (284,)


def _names(folder: Path) -> set[str]:
    return {path.suffix for path in folder.iterdir()}


def test_built_once_then_found(cache: Path) -> None:
    first = ensure_embedded()
    second = ensure_embedded()
    assert first == EmbeddedFile(first.path, built=True)
    assert second == EmbeddedFile(first.path, built=False)
    assert first.path.parent == cache
    assert _names(cache) == {".duckdb", ".sha256", ".lock"}
    assert _works()


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "gone", "no checksum", "other checksum", "other file"])
def test_damage_is_found_and_mended(cache: Path, damage: str) -> None:
    path = ensure_embedded().path
    checksum = path.with_suffix(".sha256")
    content = bytearray(path.read_bytes())
    match damage:
        case "flip":
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
        case "cut":
            path.write_bytes(content[:-4096])
        case "empty":
            path.write_bytes(b"")
        case "gone":
            path.unlink()
        case "no checksum":
            checksum.unlink()
        case "other checksum":
            checksum.write_text("0" * 64)
        case "other file":
            path.unlink()
            duckdb.connect(str(path)).close()
    assert ensure_embedded() == EmbeddedFile(path, built=True)
    assert ensure_embedded().built is False
    assert _works()


def test_processes_that_start_at_once_build_once(cache: Path) -> None:
    code = (
        "import sys, duckdb; from bmsql.backends import ensure_embedded; print('ready', flush=True); "
        "sys.stdin.readline(); found = ensure_embedded(); print(found.built, found.path)"
    )
    processes = [_python(code) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, outputs
    built = [out.split()[0] for out, _ in outputs]
    assert sorted(built) == ["False", "False", "False", "True"]
    assert len({out.split()[1] for out, _ in outputs}) == 1
    assert _works()


def test_threads_that_start_at_once_build_once(cache: Path) -> None:
    start = threading.Barrier(8)

    def ensure() -> bool:
        start.wait()
        return ensure_embedded().built

    with ThreadPoolExecutor(8) as pool:
        built = [future.result() for future in [pool.submit(ensure) for _ in range(8)]]
    assert sum(built) == 1
    assert _works()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("moment", ["while writing", "before the file is moved", "before the checksum is moved"])
def test_a_killed_builder_leaves_nothing_that_is_used(cache: Path, moment: str) -> None:
    wait = "print('here', flush=True); time.sleep(60)"
    code = f"""
import time
from pathlib import Path
from bmsql.backends import _build, _embedded
if {moment!r} == "while writing":
    real, calls = _build.read_facts_file, []
    def read(table):
        calls.append(table)
        if len(calls) == 5:
            {wait}
        return real(table)
    _build.read_facts_file = read
else:
    number = 1 if "file is moved" in {moment!r} else 2
    replace, calls = Path.replace, []
    def move(self, target):
        calls.append(target)
        if len(calls) == number:
            {wait}
        return replace(self, target)
    Path.replace = move
_embedded.ensure_embedded()
"""
    process = _python(code)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert ".tmp" in _names(cache)
    assert ensure_embedded().built
    assert _names(cache) == {".duckdb", ".sha256", ".lock"}
    assert _works()


def test_a_failed_build_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> None:
        path.write_text("half")
        raise OSError("no space left on device")

    monkeypatch.setattr(_embedded, "build", fail)
    with pytest.raises(KnowledgeBaseError, match="no space left") as caught:
        ensure_embedded()
    assert "BMSQL_CACHE_DIR" in caught.value.remedy
    assert _names(cache) == {".lock"}
    monkeypatch.undo()


def test_a_chosen_folder_that_cannot_be_used_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("BMSQL_CACHE_DIR", str(file / "below"))
    with pytest.raises(KnowledgeBaseError, match="Not a directory") as caught:
        ensure_embedded()
    assert "BMSQL_CACHE_DIR" in caught.value.remedy


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_the_right_to_write(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o500)
    with pytest.raises(KnowledgeBaseError, match="Permission denied"):
        ensure_embedded()


def test_a_built_file_needs_no_right_to_write(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ensure_embedded().path

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(_embedded, "file_lock", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert ensure_embedded() == EmbeddedFile(path, built=False)


def test_without_a_usable_home_a_temporary_folder_serves_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platformdirs

    file = tmp_path / "file"
    file.touch()
    monkeypatch.delenv("BMSQL_CACHE_DIR")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *args, **kwargs: file / "bmsql")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    _embedded._temporary_folder.cache_clear()
    try:
        found = ensure_embedded()
    finally:
        _embedded._temporary_folder.cache_clear()
    assert found.built
    assert found.path.parent.parent == tmp_path
    assert "for this process only" in found.note
    assert "BMSQL_CACHE_DIR" in found.note


def test_the_users_cache_directory_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    monkeypatch.delenv("BMSQL_CACHE_DIR")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name, appauthor: tmp_path / name)
    assert ensure_embedded().path.parent == tmp_path / "bmsql"


def test_a_lock_that_is_kept_too_long_is_an_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_embedded, "_LOCK_SECONDS", 0.1)
    path = ensure_embedded().path
    path.unlink()
    with file_lock(path.with_suffix(".lock"), seconds=1) as locked:
        assert locked
        with pytest.raises(KnowledgeBaseError, match="Another process"):
            ensure_embedded()
    assert ensure_embedded().built


def test_a_file_system_without_locks_still_works(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    def no_locks(handle: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("bmsql.backends._lock._acquire", no_locks)
    assert ensure_embedded().built
    assert _works()


def test_another_version_of_the_facts_or_of_duckdb_is_another_file(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {_embedded._version()}
    monkeypatch.setattr(_embedded, "facts_checksum", lambda: "other facts")
    names.add(_embedded._version())
    monkeypatch.setattr(duckdb, "__version__", "0.0.0")
    names.add(_embedded._version())
    assert len(names) == 3
