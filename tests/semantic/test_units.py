"""Units by the name of a column alone."""

from __future__ import annotations

import pytest

from bmsql.semantic import parse_semantic_model

MODEL = parse_semantic_model(
    """
name: garden
families:
  bed:
    label: beds
    roles:
      bed.size: {meaning: size, unit: m2}
    derived:
      bed.ratio: {sql: bed.size / 2, alias: ratio, unit: share, meaning: half}
      bed.other: {sql: bed.size / 3, alias: Height, unit: share, meaning: third}
tables:
  north:
    family: bed
    columns:
      Size: {type: FLOAT64, role: bed.size}
      height: {type: FLOAT64, unit: cm}
  south:
    family: bed
    columns:
      size: {type: FLOAT64, role: bed.size, unit: ha}
      name: {type: STRING}
""",
    file="garden.yaml",
)


@pytest.mark.parametrize(
    ("column", "tables", "unit"),
    [
        ("size", (), "m2"),
        ("SIZE", ("south",), "ha"),
        ("size", ("north", "south"), "m2"),
        ("size", ("elsewhere", "south"), "ha"),
        ("height", ("south",), "cm"),
        ("name", ("north",), ""),
        ("ratio", ("north",), "share"),
        ("width", ("north",), None),
    ],
)
def test_a_unit_is_that_of_the_nearest_table(column: str, tables: tuple[str, ...], unit: str | None) -> None:
    assert MODEL.unit_of(column, tables) == unit


def test_other_tables_have_units_of_their_own() -> None:
    assert MODEL.unit_of("height") == "cm"
    assert MODEL.with_tables({"south": MODEL.tables["south"]}).unit_of("size") == "ha"
