"""The facts in the package are those that were packed: every value, every key, every source."""

from __future__ import annotations

import collections
import csv
import hashlib
import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import duckdb
import pytest

from bmsql.backends import DuckDBBackend
from bmsql.data import FactsTable, _facts, facts_checksum, facts_manifest, read_facts_file
from bmsql.errors import KnowledgeBaseError

_TABLES = [pytest.param(table, id=table.name) for table in facts_manifest().tables]
_ROOT = Path(__file__).resolve().parents[2]


def _rows(backend: DuckDBBackend, sql: str, *parameters: object) -> list[tuple[object, ...]]:
    return backend._run(lambda cursor: cursor.execute(sql, list(parameters)).fetchall(), 30)


def _cell(value: object) -> str:
    if value is None:
        return "\0"
    if isinstance(value, bool):
        return str(value).lower()
    return value.hex() if isinstance(value, float) else str(value)


def test_nine_tables_6188_rows_under_half_a_megabyte() -> None:
    tables = facts_manifest().tables
    assert len(tables) == 9
    assert sum(table.rows for table in tables) == 6188
    folder = Path(str(files("bmsql.data") / "facts"))
    assert sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) < 500_000


def test_tables_and_types_are_those_of_the_schema() -> None:
    schema: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    with (_ROOT / "tests" / "data" / "schema.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            schema[row["table"]].append((row["column"], row["type"]))
    packed = {table.name: [(column.name, column.type) for column in table.columns] for table in facts_manifest().tables}
    assert packed == {name: columns for name, columns in schema.items() if name in packed}


@pytest.mark.parametrize("table", _TABLES)
def test_every_value_is_unchanged(embedded: DuckDBBackend, table: FactsTable) -> None:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    columns = list(zip(*_rows(embedded, f'SELECT {names} FROM "{table.name}"'), strict=True))
    assert len(columns[0]) == table.rows
    for column, values in zip(table.columns, columns, strict=True):
        digest = hashlib.sha256(b"".join(_cell(value).encode() + b"\x1e" for value in values)).hexdigest()
        assert digest == column.sha256, column.name


@pytest.mark.parametrize("table", _TABLES)
def test_every_row_has_its_key_and_its_source(embedded: DuckDBBackend, table: FactsTable) -> None:
    keys = [row[0] for row in _rows(embedded, f'SELECT "{table.key}" FROM "{table.name}"')]
    assert len(set(keys)) == table.rows
    sources = embedded.sources_of(table.name, [str(key) for key in keys])
    assert list(sources) == sorted(map(str, keys))
    assert dict(collections.Counter(sources.values())) == table.sources


def test_known_facts(embedded: DuckDBBackend) -> None:
    (apoe,) = _rows(
        embedded, "SELECT UUID, p FROM AlzheimerDisease_CombinedGeneData_UUID WHERE SNP = 'rs429358' ORDER BY p LIMIT 1"
    )
    assert apoe[1] == 0.0
    source = embedded.sources_of("AlzheimerDisease_CombinedGeneData_UUID", [str(apoe[0])])
    assert "Kunkle2019" in source[str(apoe[0])]
    withdrawn = _rows(
        embedded,
        "SELECT count(*) FROM DrugGeneTargets_ComprehensiveAnnotations_updated WHERE drugHasBeenWithdrawn IS NULL",
    )
    assert withdrawn == [(315,)]


def test_the_catalogue_is_what_the_file_holds(embedded: DuckDBBackend) -> None:
    introspected, has_sources = DuckDBBackend._introspect(embedded)
    assert introspected == embedded.catalog()
    assert has_sources
    assert embedded.catalog().qualified("x") == "bmsql.biomedsql.x"
    assert embedded.name == "embedded"
    assert embedded.fingerprint() == facts_checksum()


def test_the_readme_names_every_table_with_rows_and_every_source() -> None:
    text = (files("bmsql.data") / "facts" / "README.md").read_text(encoding="utf-8")
    for table in facts_manifest().tables:
        (line,) = [line for line in text.splitlines() if line.startswith(f"| {table.name} |")]
        assert f"| {table.rows:,} |" in line
        for source in table.sources:
            start = source.split("_")[0].split(",")[0]
            assert f"`{start}" in text, source
    assert "CC BY-SA 4.0" in text


@pytest.mark.all
def test_packing_again_gives_the_same_files(embedded: DuckDBBackend, tmp_path: Path) -> None:
    folder = tmp_path / "facts"
    folder.mkdir()
    with (tmp_path / "schema.csv").open("w", newline="", encoding="utf-8") as schema:
        csv.writer(schema).writerows(
            [("table", "column", "type")]
            + [(table.name, column.name, column.type) for table in facts_manifest().tables for column in table.columns]
        )
    sources: list[tuple[str, str]] = []
    for table in facts_manifest().tables:
        names = [column.name for column in table.columns]
        rows = _rows(embedded, f'SELECT {", ".join(names)} FROM "{table.name}"')
        with (folder / f"{table.name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(
                [names, *([str(v).lower() if v is True or v is False else v for v in r] for r in rows)]
            )
        sources += embedded.sources_of(table.name, [str(row[names.index(table.key)]) for row in rows]).items()
    with (folder / "_row_sources.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("UUID", "source"), *sources])
    outputs = []
    for out in (tmp_path / "first", tmp_path / "second"):
        command = [sys.executable, str(_ROOT / "scripts" / "pack_facts.py"), str(folder), "--out", str(out)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        outputs.append({file.name: file.read_bytes() for file in sorted(out.iterdir())})
    assert outputs[0] == outputs[1]
    # Bytes of parquet depend on the version of pyarrow; the values, keys and sources do not.
    again = json.loads(outputs[0]["manifest.json"])
    kept = json.loads((files("bmsql.data") / "facts" / "manifest.json").read_bytes())
    for manifest in (again, kept):
        for entry in manifest["tables"]:
            del entry["sha256"]
    assert again == kept


def test_the_files_are_typed_parquet_with_the_source_last(tmp_path: Path) -> None:
    for table in facts_manifest().tables:
        file = tmp_path / table.file
        file.write_bytes(read_facts_file(table))
        with duckdb.connect() as connection:
            described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(file)]).fetchall()
        assert [row[0] for row in described] == [*(column.name for column in table.columns), table.source_column]


def test_a_damaged_package_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = facts_manifest().tables[0]
    whole = read_facts_file(table)
    monkeypatch.setattr(_facts, "_read", lambda name: whole[:-1] + b"x")
    with pytest.raises(KnowledgeBaseError, match="damaged") as caught:
        read_facts_file(table)
    assert "Reinstall" in caught.value.remedy
    with pytest.raises(KnowledgeBaseError, match="manifest"):
        facts_manifest.__wrapped__()
    monkeypatch.undo()
    with pytest.raises(KnowledgeBaseError, match="cannot be read"):
        _facts._read("none")
