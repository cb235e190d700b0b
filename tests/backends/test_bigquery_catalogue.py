"""The catalogue of BigQuery by introspection, and its copy on disk."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from bmsql.backends import BigQueryBackend
from bmsql.backends.bigquery import _retry
from bmsql.backends.bigquery._shards import fold
from bmsql.errors import BackendUnavailableError, PermissionDeniedError
from bmsql.semantic import introspect_model, parse_semantic_model
from bmsql.sql import validate
from bmsql.types import ColumnInfo, Limits, ValidatedQuery
from tests.servers.bigquery import FakeBigQuery

NESTED = """
    CREATE TABLE visits (
        id VARCHAR, day DATE,
        hits STRUCT(page VARCHAR, "times" BIGINT[])[],
        geo STRUCT(city VARCHAR)
    );
    INSERT INTO visits VALUES ('a', '2024-01-01', [{page: 'x', times: [1, 2]}], {city: 'B'});
    CREATE VIEW cities AS SELECT id, geo.city AS city FROM visits;
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BMSQL_CACHE_DIR", str(tmp_path))
    return tmp_path / "bigquery"


def opened(fake: FakeBigQuery, **options: object) -> BigQueryBackend:
    given = {"catalogue_cache_hours": 0, **options}
    return BigQueryBackend(fake.project, "kb", endpoint=fake.url, **given)  # type: ignore[arg-type]


def test_tables_views_and_nested_fields() -> None:
    with FakeBigQuery() as fake:
        fake.data.add("kb", NESTED)
        fake.data.tables["kb", "visits"].meta = {
            "description": "One row per visit.",
            "columns": {"id": "Who came.", "geo": "Where from."},
            "timePartitioning": {"type": "DAY", "field": "day"},
            "requirePartitionFilter": True,
            "clustering": {"fields": ["id", "day"]},
            "numBytes": "12345",
        }
        catalog = opened(fake).catalog()
    visits, cities = catalog.by_name["visits"], catalog.by_name["cities"]
    assert [(column.name, column.type) for column in visits.columns] == [
        ("id", "STRING"),
        ("day", "DATE"),
        ("hits", "ARRAY<STRUCT<page STRING, times ARRAY<INT64>>>"),
        ("geo", "STRUCT<city STRING>"),
    ]
    assert visits.columns[0] == ColumnInfo(name="id", type="STRING", description="Who came.")
    assert (visits.rows, visits.bytes, visits.kind, visits.description) == (1, 12345, "table", "One row per visit.")
    assert (visits.partitioned_by, visits.partition_filter, visits.clustered_by) == ("day", True, ("id", "day"))
    assert (cities.kind, cities.rows, cities.bytes) == ("view", None, None)
    # The validator knows the fields.
    assert isinstance(validate("SELECT h.page, geo.city FROM visits, UNNEST(hits) AS h", catalog), ValidatedQuery)
    assert not isinstance(validate("SELECT geo.town FROM visits", catalog), ValidatedQuery)


def test_hundreds_of_tables_are_read_by_pages_and_families_are_one() -> None:
    script = "".join(f"CREATE TABLE t_{number}x (id VARCHAR, a BIGINT);" for number in range(120))
    for day in range(1, 31):
        late = ", b DOUBLE" if day > 20 else ""
        script += f"CREATE TABLE events_202401{day:02} (id VARCHAR, n BIGINT{late});"
        script += f"INSERT INTO events_202401{day:02} BY NAME SELECT 'e' || {day} AS id, {day} AS n;"
    with FakeBigQuery() as fake:
        fake.data.add("kb", script)
        with opened(fake) as backend:
            catalog = backend.catalog()
            assert len(catalog.tables) == 121
            assert len(fake.called("tables.get")) == 121, "of a family one table is looked at"
            family = catalog.by_name["events_*"]
            assert [column.name for column in family.columns] == ["id", "n", "b"], "those of the latest shard"
            assert family.shards[0] == "20240101"
            assert len(family.shards) == 30
            sql = "SELECT n, _TABLE_SUFFIX AS day FROM `events_*` WHERE _TABLE_SUFFIX > '20240128' ORDER BY n"
            query = validate(sql, catalog)
            assert isinstance(query, ValidatedQuery)
            assert backend.execute(query, Limits()).rows == ((29, "20240129"), (30, "20240130"))
            one = validate("SELECT n FROM events_20240107", catalog)
            assert isinstance(one, ValidatedQuery)
            assert backend.execute(one, Limits()).rows == ((7,),)


@pytest.mark.parametrize(
    ("names", "families"),
    [
        (["a_20240101", "a_20240102", "b"], ["a_*", "b"]),
        (["a_20240101"], ["a_20240101"]),
        (["a_2023", "a_2024", "a_20240101"], ["a_*", "a_20240101"]),
        (["a_2023", "a_2024", "a_20240101", "a_20240102"], ["a_2023", "a_2024", "a_20240101", "a_20240102"]),
        (
            ["chr_1", "chr_2", "rs7412", "rs429358", "t_99999999"],
            ["chr_1", "chr_2", "rs429358", "rs7412", "t_99999999"],
        ),
        (["v1900", "v1901"], ["v*"]),
        (["20240101", "20240102"], ["20240101", "20240102"]),
        ([], []),
    ],
)
def test_families(names: list[str], families: list[str]) -> None:
    assert [family.name for family in fold(names)] == families


def test_a_family_warns_of_other_tables_that_its_star_matches() -> None:
    [family, other] = fold(["events_20240101", "events_20240102", "events_intraday_20240103"])
    assert family.also == (other.name,)
    assert "events_intraday_20240103 too: filter on LENGTH(_TABLE_SUFFIX) = 8" in family.warning
    assert other.warning == ""


def test_an_ingestion_time_partition_can_be_named_but_is_no_part_of_the_star() -> None:
    with FakeBigQuery() as fake:
        fake.data.add("kb", "CREATE TABLE logs (a BIGINT)")
        fake.data.tables["kb", "logs"].meta["timePartitioning"] = {"type": "DAY"}
        catalog = opened(fake).catalog()
    assert catalog.by_name["logs"].partitioned_by == "_PARTITIONTIME"
    named = validate("SELECT a FROM logs WHERE _PARTITIONDATE = '2024-01-01' AND _PARTITIONTIME IS NOT NULL", catalog)
    assert isinstance(named, ValidatedQuery)
    assert not isinstance(validate("SELECT s._PARTITIONTIME FROM (SELECT * FROM logs) AS s", catalog), ValidatedQuery)


def test_further_datasets(sample_template: Path) -> None:
    with FakeBigQuery() as fake:
        fake.data.attach("kb", str(sample_template))
        fake.data.add("other", "CREATE TABLE Extra (id VARCHAR, w BIGINT); INSERT INTO Extra VALUES ('item_1', 5)")
        with opened(fake, allowed_datasets=["other"]) as backend:
            catalog = backend.catalog()
            assert "other.Extra" in catalog.by_name
            query = validate("SELECT i.n, e.w FROM Items AS i JOIN other.Extra AS e USING (id)", catalog)
            assert isinstance(query, ValidatedQuery)
            assert query.tables == ("Items", "other.Extra")
            assert backend.execute(query, Limits()).rows == ((1, 5),)
            assert backend.distinct_values("other.Extra", "w", limit=5) == ["5"]
        closed = opened(fake).catalog()
    assert not isinstance(validate("SELECT w FROM other.Extra", closed), ValidatedQuery)


class TestOnDisk:
    def test_it_is_read_once(self, fake: FakeBigQuery, cache: Path) -> None:
        first = opened(fake, catalogue_cache_hours=1)
        second = opened(fake, catalogue_cache_hours=1)
        assert first.catalog() == second.catalog()
        assert first.fingerprint() == second.fingerprint()
        assert len(fake.called("tables.list")) == 1
        [file] = cache.iterdir()
        assert fake.url not in file.read_text()

    @pytest.mark.parametrize("damage", ["", "{}", "[]", '{"read_at": 1}', "old"])
    def test_what_is_old_or_damaged_is_read_anew(self, fake: FakeBigQuery, cache: Path, damage: str) -> None:
        opened(fake, catalogue_cache_hours=1).catalog()
        [file] = cache.iterdir()
        text = json.dumps(json.loads(file.read_text()) | {"read_at": 1e9}) if damage == "old" else damage
        file.write_text(text)
        assert "Items" in opened(fake, catalogue_cache_hours=1).catalog().by_name
        assert len(fake.called("tables.list")) == 2

    def test_other_datasets_and_accounts_have_their_own(self, fake: FakeBigQuery, cache: Path) -> None:
        fake.data.add("other", "CREATE TABLE Extra (id VARCHAR)")
        opened(fake, catalogue_cache_hours=1).catalog()
        opened(fake, catalogue_cache_hours=1, allowed_datasets=["other"]).catalog()
        opened(fake, catalogue_cache_hours=1, billing_project="pay-project").catalog()
        assert len(list(cache.iterdir())) == 3

    def test_refresh_reads_it_anew(self, fake: FakeBigQuery, cache: Path) -> None:
        backend = opened(fake, catalogue_cache_hours=1)
        before = backend.fingerprint()
        fake.data.tables["kb", "Items"].meta["lastModifiedTime"] = "1800000000000"
        assert backend.fingerprint() == before
        backend.refresh()
        assert backend.fingerprint() != before

    def test_a_cache_that_cannot_be_written_is_no_error(
        self, fake: FakeBigQuery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("BMSQL_CACHE_DIR", str(tmp_path / "file"))
        with caplog.at_level(logging.INFO):
            assert opened(fake, catalogue_cache_hours=1).catalog().tables
        assert "cannot be kept" in caplog.text


def test_a_missing_dataset_is_named(fake: FakeBigQuery) -> None:
    with (
        BigQueryBackend(fake.project, "nowhere", endpoint=fake.url, catalogue_cache_hours=0) as backend,
        pytest.raises(BackendUnavailableError, match="Not found: Dataset lab-project:nowhere") as caught,
    ):
        backend.catalog()
    assert "location" in caught.value.remedy


def test_a_missing_permission_is_named(fake: FakeBigQuery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_retry, "FIRST_WAIT", 0.01)
    said = "Access Denied: Dataset lab-project:kb: Permission bigquery.tables.list denied on dataset lab-project:kb"
    fake.fail("tables.list", 403, "accessDenied", said)
    with pytest.raises(PermissionDeniedError, match=r"bigquery\.tables\.list") as caught:
        opened(fake).catalog()
    assert "roles/bigquery.metadataViewer" in caught.value.remedy


def test_a_table_dropped_while_it_is_looked_at_is_left_out(fake: FakeBigQuery) -> None:
    fake.fail("tables.get", 404, "notFound", "Not found: Table lab-project:kb.gone")
    assert len(opened(fake).catalog().tables) == 2


def test_a_semantic_model_can_be_begun_from_it(fake: FakeBigQuery, bigquery: BigQueryBackend) -> None:
    model = parse_semantic_model(introspect_model(bigquery.catalog(), bigquery.distinct_values))
    assert set(model.tables) == {table.name for table in bigquery.catalog().tables}
