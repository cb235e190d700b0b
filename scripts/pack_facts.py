"""Pack the facts tables into the package: `python scripts/pack_facts.py DIR [--schema FILE] [--out FOLDER]`.

DIR holds one CSV per table (an empty cell is NULL) and `_row_sources.csv` (evidence key, source).
The schema (table, column, BigQuery type) is `DIR/../schema.csv` unless given. Written are one
parquet file per table, zstd, with the source of each row as a last column, and `manifest.json`
with the checksum of every file and of every column's values. The output is byte-identical from run
to run with one version of pyarrow; the value checksums do not depend on it.
"""

from __future__ import annotations

import argparse
import collections
import csv
import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

KEY = "UUID"
SOURCE = "_source"
OUT = Path(__file__).resolve().parent.parent / "src" / "bmsql" / "data" / "facts"

# Rows of these tables stand in no row-source list: the source holds for the table as a whole.
_DRUGS = "ChEMBL, Open Targets, DrugCentral, PharmGKB and FDA approval years"
TABLE_SOURCES = {
    "DrugGeneTargets_ComprehensiveAnnotations_updated": _DRUGS,
    "DrugTargets_IndicationsAndTherapeuticUses": _DRUGS,
    "DrugTargets_LiscensingAndUses": "FDA Purple Book 2025-04",
}

PARSE: dict[str, Callable[[str], object]] = {
    "STRING": str,
    "INT64": int,
    "FLOAT64": float,
    "BOOL": lambda text: {"true": True, "false": False}[text.lower()],
}
ARROW = {"STRING": pa.string(), "INT64": pa.int64(), "FLOAT64": pa.float64(), "BOOL": pa.bool_()}


def digest(values: Iterable[object]) -> str:
    """The checksum of a column: see `bmsql.data.FactsColumn`."""
    sha = hashlib.sha256()
    for value in values:
        match value:
            case None:
                cell = "\x00"
            case bool():
                cell = "true" if value else "false"
            case float():
                cell = value.hex()
            case _:
                cell = str(value)
        sha.update(cell.encode("utf-8") + b"\x1e")
    return sha.hexdigest()


def read_schema(path: Path) -> dict[str, dict[str, str]]:
    """Column types by table and column, in the order of the file."""
    schema: dict[str, dict[str, str]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            schema.setdefault(row["table"], {})[row["column"]] = row["type"]
    return schema


def read_sources(path: Path) -> dict[str, str]:
    """The source of each row, by evidence key."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    sources = {row[KEY]: row["source"] for row in rows}
    if len(sources) != len(rows):
        sys.exit(f"{path}: an evidence key occurs twice")
    return sources


def pack(name: str, types: dict[str, str], csv_file: Path, sources: dict[str, str], out: Path) -> dict[str, object]:
    """Write one table and return its entry of the manifest."""
    with csv_file.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if list(reader.fieldnames or ()) != list(types):
            sys.exit(f"{csv_file}: the columns are not those of the schema")
        rows = list(reader)
    keys = [row[KEY] for row in rows]
    if len(set(keys)) != len(keys) or "" in keys:
        sys.exit(f"{csv_file}: an evidence key is empty or occurs twice")
    values = {
        column: [None if row[column] == "" else PARSE[kind](row[column]) for row in rows]
        for column, kind in types.items()
    }
    default = TABLE_SOURCES.get(name)
    row_sources = [sources.get(key, default) for key in keys]
    if None in row_sources:
        sys.exit(f"{csv_file}: {keys[row_sources.index(None)]} has no source")

    arrays = {column: pa.array(values[column], ARROW[kind]) for column, kind in types.items()}
    table = pa.table({**arrays, SOURCE: pa.array(row_sources, pa.string())})
    target = out / f"{name}.parquet"
    # Plain pages compress better than dictionaries here; statistics are of no use in tables this small.
    pq.write_table(
        table, target, compression="zstd", compression_level=19, use_dictionary=[SOURCE], write_statistics=False
    )
    return {
        "name": name,
        "file": target.name,
        "sha256": hashlib.sha256(target.read_bytes()).hexdigest(),
        "rows": len(rows),
        "key": KEY,
        "source_column": SOURCE,
        "sources": dict(sorted(collections.Counter(map(str, row_sources)).items())),
        "columns": [{"name": column, "type": kind, "sha256": digest(values[column])} for column, kind in types.items()],
    }


def main() -> None:
    """Pack every table of the schema that has a CSV file in DIR."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--schema", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    schema = read_schema(options.schema or options.dir.parent / "schema.csv")
    sources = read_sources(options.dir / "_row_sources.csv")
    options.out.mkdir(parents=True, exist_ok=True)
    tables = [
        pack(name, types, options.dir / f"{name}.csv", sources, options.out)
        for name, types in schema.items()
        if (options.dir / f"{name}.csv").exists()
    ]
    manifest = {"project": "bmsql", "dataset": "biomedsql", "tables": tables}
    (options.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    for table in tables:
        size = (options.out / str(table["file"])).stat().st_size
        print(f"{table['name']}: {table['rows']} rows, {size} bytes")


if __name__ == "__main__":
    main()
