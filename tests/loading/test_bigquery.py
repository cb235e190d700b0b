"""Loading into BigQuery: the real client against a server on this machine that plays BigQuery."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bmsql.errors import (
    BackendUnavailableError,
    BmsqlError,
    ConfigurationError,
    CredentialsError,
    KnowledgeBaseError,
    PermissionDeniedError,
)
from bmsql.loading import LoadProgress, load, synthesize
from tests.loading.bigquery import BigQuery, serving

# Google's client waits between tries.
pytestmark = pytest.mark.all

MODEL = Path(__file__).parent / "model.yaml"
HITS = "id,name,position,p,good,_source\nh1,APOE,1,0.5,true,study A\nh2,MAPT,2.0,0.25,,study B\n"


@pytest.fixture
def bigquery() -> Iterator[BigQuery]:
    with serving(BigQuery()) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Hits.csv").write_text(HITS)
    (tmp_path / "Other.csv").write_text("x\n1\n2\n3\n")
    return tmp_path


def url(bigquery: BigQuery, more: str = "") -> str:
    return f"bigquery://lab-project/lab?location=EU&endpoint={bigquery.url}{more}"


def test_tables_are_staged_checked_and_copied(bigquery: BigQuery, folder: Path) -> None:
    seen: list[LoadProgress] = []
    report = load(folder, url(bigquery), semantic_model=MODEL, source="the lab", on_progress=seen.append)
    assert [(t.table, t.action, t.rows) for t in report.tables] == [("Hits", "loaded", 2), ("Other", "loaded", 3)]
    assert bigquery.datasets["lab"]["location"] == "EU"
    assert bigquery.tables() == ["Hits", "Other", "_kb_manifest", "_key_sources", "_row_sources"]
    assert bigquery.rows('SELECT * FROM "Hits"') == [("h1", "APOE", 1, 0.5, True), ("h2", "MAPT", 2, 0.25, None)]
    assert bigquery.rows("SELECT * FROM _row_sources ORDER BY key") == [
        ("Hits", "h1", "study A"),
        ("Hits", "h2", "study B"),
    ]
    assert bigquery.rows("SELECT * FROM _key_sources ORDER BY 1") == [("Hits", "", "the lab"), ("Other", "", "the lab")]
    fields = {field["name"]: field for field in bigquery.meta["Hits"]["schema"]["fields"]}
    assert {name: field["type"] for name, field in fields.items()}["position"] == "INT64"
    assert fields["p"]["description"] == "p-value"
    assert not any(bigquery.meta[name].get("expirationTime") for name in bigquery.tables())
    assert all(job["configuration"]["labels"] == {"app": "bmsql", "task": "kb-load"} for job in bigquery.jobs)
    assert {step.step for step in seen} >= {"read", "load", "upload", "verify", "done"}


def test_the_same_content_is_not_loaded_twice(bigquery: BigQuery, folder: Path) -> None:
    load(folder, url(bigquery), semantic_model=MODEL)
    jobs = len(bigquery.jobs)
    assert {t.action for t in load(folder, url(bigquery), semantic_model=MODEL).tables} == {"unchanged"}
    assert len(bigquery.jobs) == jobs
    (folder / "Hits.csv").write_text(HITS + "h3,SNCA,3,0.1,true,study C\n")
    again = load(folder, url(bigquery), semantic_model=MODEL)
    assert {t.table: t.action for t in again.tables} == {"Hits": "loaded", "Other": "unchanged"}
    assert bigquery.rows("SELECT count(*) FROM _row_sources") == [(3,)]
    records = {name: json.loads(record) for name, record in bigquery.rows("SELECT * FROM _kb_manifest")}
    assert {name: record["rows"] for name, record in records.items()} == {"Hits": 3, "Other": 3}


def test_a_failed_load_changes_nothing_and_goes_on(bigquery: BigQuery, folder: Path) -> None:
    load(folder / "Hits.csv", url(bigquery), semantic_model=MODEL)
    before = bigquery.rows('SELECT * FROM "Hits"')
    (folder / "Hits.csv").write_text(HITS + "h3,SNCA,3,0.1,true,study C\n")
    bigquery.fail["load _kb_load_Other"] = 400
    with pytest.raises(BackendUnavailableError, match="no loading into _kb_load_Other") as caught:
        load(folder, url(bigquery), semantic_model=MODEL)
    assert "goes on where it was" in caught.value.remedy
    assert bigquery.rows('SELECT * FROM "Hits"') == before
    assert int(bigquery.meta["_kb_load_Hits"]["expirationTime"]) > 0
    bigquery.fail.clear()
    bigquery.log.clear()
    report = load(folder, url(bigquery), semantic_model=MODEL)
    assert {t.table: t.action for t in report.tables} == {"Hits": "resumed", "Other": "loaded"}
    assert bigquery.rows('SELECT count(*), (SELECT count(*) FROM "Other") FROM "Hits"') == [(3, 3)]
    assert bigquery.rows("SELECT count(*) FROM _row_sources") == [(3,)]
    assert not [name for name in bigquery.tables() if name.startswith(("_kb_load", "_kb_sources"))]


def test_what_was_staged_of_other_tables_is_not_published(bigquery: BigQuery, folder: Path) -> None:
    bigquery.fail["copy Hits"] = 400
    with pytest.raises(BackendUnavailableError, match="no copying"):
        load(folder / "Hits.csv", url(bigquery), semantic_model=MODEL)
    bigquery.fail.clear()
    load(folder / "Other.csv", url(bigquery), semantic_model=MODEL)
    assert bigquery.tables() == ["Other", "_kb_manifest"]


def test_lost_rows_are_an_error(bigquery: BigQuery, folder: Path) -> None:
    bigquery.lose = 1
    with pytest.raises(KnowledgeBaseError, match="2 rows were counted in the files of Hits, but 1 were loaded"):
        load(folder, url(bigquery), semantic_model=MODEL)
    assert "Hits" not in bigquery.tables()


def test_what_cannot_be_had_says_why(bigquery: BigQuery, folder: Path) -> None:
    cases: list[tuple[str, type[BmsqlError], str]] = [
        ("bigquery://lab-project", ConfigurationError, "names no BigQuery dataset"),
        ("bigquery://lab-project/lab/Hits", ConfigurationError, "names no BigQuery dataset"),
        (url(bigquery, "&region=EU"), ConfigurationError, "no parameter 'region'"),
        (url(bigquery, "&credentials=nothing.json"), CredentialsError, "cannot be read"),
    ]
    for to, error, message in cases:
        with pytest.raises(error, match=message) as caught:
            load(folder, to, semantic_model=MODEL)
        assert caught.value.remedy
    bigquery.fail["dataset"] = 403
    with pytest.raises(PermissionDeniedError, match=r"bigquery\.datasets\.create"):
        load(folder, url(bigquery), semantic_model=MODEL)


@pytest.mark.all
def test_synthetic_rows(bigquery: BigQuery) -> None:
    report = synthesize(2_000, url(bigquery), seed=3)
    made = sum(int(bigquery.rows(f'SELECT count(*) FROM "{t.table}"')[0][0]) for t in report.tables)
    assert made == sum(t.rows for t in report.tables)
    sources = bigquery.rows("SELECT DISTINCT source FROM _key_sources")
    assert sources == [("synthetic rows (bmsql kb synth, seed 3): no data",)]
