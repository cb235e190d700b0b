"""Backends by what a user writes, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import bmsql.backends
from bmsql.backends import Backend, DuckDBBackend, open_backend
from bmsql.errors import BackendUnavailableError, ConfigurationError
from bmsql.types import Limits


@pytest.mark.parametrize("spec", [None, "embedded", " Embedded "])
def test_embedded(spec: str | None) -> None:
    backend = open_backend(spec, limits=Limits(memory_mb=200))
    assert backend.name == "embedded"
    assert backend.catalog().dataset == "biomedsql"
    backend.close()


def test_duckdb_paths(sample_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(sample_file.parent)
    name = f"duckdb://{sample_file.as_posix()}"
    for spec in (name, f"duckdb:////{sample_file.as_posix()[1:]}", "duckdb://sample.duckdb", "duckdb:///sample.duckdb"):
        backend = open_backend(spec)
        assert isinstance(backend, DuckDBBackend)
        assert backend.path == sample_file
        assert backend.name == name
        assert backend.catalog().dataset == "sample"
        backend.close()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailableError, match="nowhere"):
        open_backend(f"duckdb://{tmp_path}/nowhere.duckdb")


def test_a_backend_is_itself(sample: DuckDBBackend) -> None:
    assert isinstance(sample, Backend)
    assert open_backend(sample) is sample


@pytest.mark.parametrize("spec", ["", "duckdb://", "sqlite:///x", "my.duckdb", "duckdb", "bigquery", 5, object()])
def test_anything_else_lists_the_forms(spec: object) -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_backend(spec)  # type: ignore[arg-type]
    assert "duckdb:///" in caught.value.remedy
    assert '"embedded"' in caught.value.remedy


def test_public_names() -> None:
    assert len(set(bmsql.backends.__all__)) == len(bmsql.backends.__all__)
    for name in bmsql.backends.__all__:
        assert getattr(bmsql.backends, name).__doc__


def test_importing_loads_no_driver() -> None:
    code = (
        "import sys, bmsql.backends, bmsql.data; "
        "drivers = 'duckdb', 'pyarrow', 'sqlglot', 'pandas', 'platformdirs', 'google.auth', 'tenacity'; "
        "print([m for m in drivers if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
