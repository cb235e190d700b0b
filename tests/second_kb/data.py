"""A made-up seed bank: some 260 rows, the same every time, in a DuckDB file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import duckdb

TABLES = {
    "SPE": "species",
    "ACC": "accessions",
    "COLD": "tests_cold_store",
    "DRY": "tests_dry_room",
    "LOAN": "loans",
}
_COUNTRIES = ("Spain", "Italy", "Austria", "Norway", "Greece", "Austria", "Italy")
_COLLECTORS = ("Ingrid Solberg", "Mateo Ferrer", "Chiara Bellini", "Jonas Huber")
_INSTITUTES = ("Alpine Garden Graz", "Bergen Arboretum", "Marine Flora Trust", "Verona Plant Laboratory")
_PURPOSES = ("Restoration", "Breeding", "Teaching", "Taxonomy", "Restoration")
_TREATMENTS = ("None", "Stratified", "Scarified", "Smoke", "None")


def build(path: Path) -> Path:
    """Write the seed bank to a new DuckDB file."""
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE species (row_id VARCHAR, species_name VARCHAR, common_names VARCHAR, plant_family VARCHAR,"
            " life_form VARCHAR, red_list VARCHAR, height_cm BIGINT, pollinators VARCHAR, edible BOOLEAN,"
            " habitat VARCHAR)"
        )
        connection.execute(
            "CREATE TABLE accessions (row_id VARCHAR, accession_no VARCHAR, species_name VARCHAR, country VARCHAR,"
            " year_collected BIGINT, altitude_m BIGINT, seed_count BIGINT, collector VARCHAR)"
        )
        for table in ("tests_cold_store", "tests_dry_room"):
            connection.execute(
                f"CREATE TABLE {table} (row_id VARCHAR, accession_no VARCHAR, germination_pct DOUBLE,"
                " year_tested BIGINT, temperature_c BIGINT, days_to_half BIGINT, treatment VARCHAR)"
            )
        connection.execute(
            "CREATE TABLE loans (row_id VARCHAR, accession_no VARCHAR, institute VARCHAR, year_sent BIGINT,"
            " packets BIGINT, purpose VARCHAR, store VARCHAR)"
        )
        _fill(connection, "species", [(f"sp_{number}", *row) for number, row in enumerate(_species(), 1)])
        _fill(connection, "accessions", _accessions())
        _fill(connection, "tests_cold_store", _tests("cold", 70, 11))
        _fill(connection, "tests_dry_room", _tests("dry", 50, 29))
        _fill(connection, "loans", _loans())
    return path


def _fill(connection: duckdb.DuckDBPyConnection, table: str, rows: list[tuple[Any, ...]]) -> None:
    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _number(accession: int) -> str:
    return f"SB-{1000 + accession}"


def _species() -> list[tuple[Any, ...]]:
    with (Path(__file__).parent / "species.csv").open(encoding="utf-8", newline="") as file:
        # An empty cell is not recorded.
        return [tuple(cell or None for cell in row) for row in list(csv.reader(file))[1:]]


def _accessions() -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    known = _species()
    for number in range(1, 81):
        species = known[(number * 7) % len(known)]
        year = 0 if number % 19 == 0 else 1978 + (number * 11) % 44
        altitude = 5 + (number * 3) % 20 if species[8] == "Coast" else 100 + (number * 263) % 2400
        seeds = 150 + (number * 997) % 9000
        country, collector = _COUNTRIES[number % 7], _COLLECTORS[(number // 2) % 4]
        rows.append((f"ac_{number}", _number(number), species[0], country, year, altitude, seeds, collector))
    return rows


def _tests(store: str, count: int, step: int) -> list[tuple[Any, ...]]:
    rows = []
    for number in range(1, count + 1):
        accession = 1 + (number * step) % 80
        germination = round(20 + (number * step * 3.7 + accession) % 80, 1)
        year, days = 1995 + (number * 5) % 30, 3 + (number * 13) % 40
        treatment = _TREATMENTS[number % 5]
        rows.append(
            (f"{store}_{number}", _number(accession), germination, year, 10 + 5 * (number % 4), days, treatment)
        )
    return rows


def _loans() -> list[tuple[Any, ...]]:
    return [
        (
            f"lo_{number}",
            _number(1 + (number * 17) % 60),
            _INSTITUTES[(number * 7 // 3) % 4],
            2005 + (number * 3) % 20,
            1 + (number * 7) % 12,
            _PURPOSES[number % 5],
            "cold" if number % 4 else "dry",
        )
        for number in range(1, 41)
    ]
