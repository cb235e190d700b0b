"""Fetching published tables: the real hub client against a server on this machine."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bmsql.backends import DuckDBBackend
from bmsql.errors import ConfigurationError, CredentialsError, KnowledgeBaseError, MissingDependencyError
from bmsql.loading import LoadProgress, pull, read_records
from tests.loading.hub import COMMIT, Hub, serving

MODEL = Path(__file__).parent / "model.yaml"
HITS = b"id,name,position,p,good\nh1,APOE,1,0.5,true\nh2,MAPT,2,0.25,false\n"


def parquet(**columns: list[object]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="none")
    return out.getvalue()


OTHER = parquet(x=list(range(20_000)))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    files = {
        "README.md": b"# data",
        "db_data/Hits.csv": HITS,
        "db_data/Other.parquet": OTHER,
        "questions/dev.csv": b"q\n",
    }
    with serving(Hub(files)) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        yield running


def count(path: Path, table: str) -> int:
    with duckdb.connect(str(path), read_only=True) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0])


@pytest.mark.parametrize("large", [True, False])
def test_the_tables_that_the_model_knows(hub: Hub, tmp_path: Path, large: bool) -> None:
    hub.large = large
    target = tmp_path / "kb.duckdb"
    seen: list[LoadProgress] = []
    report = pull(
        f"duckdb://{target}", repository="owner/name", semantic_model=MODEL, cache_dir=tmp_path / "cache",
        on_progress=seen.append,
    )  # fmt: skip
    assert [(t.table, t.action, t.rows) for t in report.tables] == [("Hits", "loaded", 2)]
    assert {step.step for step in seen} >= {"download", "read", "load", "done"}
    record = read_records(target)["Hits"]
    assert record.origin == f"owner/name@{COMMIT}"
    with DuckDBBackend(target) as backend:
        assert backend.sources_of("Hits", ["h1"]) == {"h1": f"owner/name ({COMMIT[:12]})"}
    assert not any("Other" in line or "dev.csv" in line for line in hub.log)
    again = pull(f"duckdb://{target}", repository="owner/name", semantic_model=MODEL, cache_dir=tmp_path / "cache")
    assert again.tables[0].action == "unchanged"
    assert sum(line.startswith("GET") and "Hits" in line for line in hub.log) == 1


def test_tables_by_name_at_a_revision(hub: Hub, tmp_path: Path) -> None:
    target = tmp_path / "kb.duckdb"
    report = pull(
        f"duckdb://{target}", repository="owner/name", revision="v1", only=["other"], semantic_model=MODEL,
        cache_dir=tmp_path / "cache",
    )  # fmt: skip
    assert [t.table for t in report.tables] == ["Other"]
    assert count(target, "Other") == 20_000
    assert any("/revision/v1" in line for line in hub.log)


def test_a_fetch_that_breaks_off_goes_on(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The client stores what has come in pieces of 10 MB, more than the whole file here.
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 10_000)
    hub.cut = 50_000
    target = tmp_path / "kb.duckdb"
    seen: list[LoadProgress] = []
    pull(
        f"duckdb://{target}", repository="owner/name", only=["Other"], semantic_model=MODEL,
        cache_dir=tmp_path / "cache", on_progress=seen.append,
    )  # fmt: skip
    assert count(target, "Other") == 20_000
    assert any(line.startswith("GET") and line.endswith("bytes=50000-") for line in hub.log), hub.log
    assert max(step.fraction for step in seen if step.step == "download") == 1


def test_a_damaged_file_is_not_loaded_and_not_kept(hub: Hub, tmp_path: Path) -> None:
    hub.damaged = True
    target, options = tmp_path / "kb.duckdb", {"repository": "owner/name", "cache_dir": tmp_path / "cache"}
    with pytest.raises(KnowledgeBaseError, match="checksum"):
        pull(f"duckdb://{target}", semantic_model=MODEL, **options)  # type: ignore[arg-type]
    assert not target.exists()
    hub.damaged = False
    assert pull(f"duckdb://{target}", semantic_model=MODEL, **options).tables[0].rows == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "code", "error", "message"),
    [
        (401, "GatedRepo", CredentialsError, "accepted its terms"),
        (404, "RepoNotFound", ConfigurationError, "no dataset owner/name"),
        (403, "", CredentialsError, "status 403"),
        (400, "", KnowledgeBaseError, "status 400"),
    ],
)
def test_what_the_hub_refuses(
    hub: Hub, tmp_path: Path, status: int, code: str, error: type[Exception], message: str
) -> None:
    hub.status, hub.code = status, code
    with pytest.raises(error, match=message) as caught:
        pull(f"duckdb://{tmp_path / 'kb.duckdb'}", repository="owner/name", cache_dir=tmp_path)
    assert caught.value.__cause__ is not None


def test_what_is_not_there(hub: Hub, tmp_path: Path) -> None:
    to = f"duckdb://{tmp_path / 'kb.duckdb'}"
    with pytest.raises(ConfigurationError, match="no revision 'v9'"):
        pull(to, repository="owner/name", revision="v9", cache_dir=tmp_path)
    with pytest.raises(ConfigurationError, match="no table 'Nothing'") as caught:
        pull(to, repository="owner/name", only=["Nothing"], cache_dir=tmp_path)
    assert "Hits, Other" in caught.value.remedy
    with pytest.raises(ConfigurationError, match="the semantic model 'biomedsql' knows"):
        pull(to, repository="owner/name", cache_dir=tmp_path)
    with pytest.raises(ConfigurationError, match="no name of a dataset"):
        pull(to, repository="a/b/c", cache_dir=tmp_path)
    with pytest.raises(ConfigurationError, match="names no place"):
        pull("nowhere", repository="owner/name", cache_dir=tmp_path)


def test_without_a_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(KnowledgeBaseError, match=r"http://127\.0\.0\.1:9 cannot be reached") as caught:
        pull(f"duckdb://{tmp_path / 'kb.duckdb'}", cache_dir=tmp_path)
    assert "HF_ENDPOINT" in caught.value.remedy


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingDependencyError, match="huggingface_hub") as caught:
        pull(f"duckdb://{tmp_path / 'kb.duckdb'}")
    assert "bmsql[hub]" in caught.value.remedy
