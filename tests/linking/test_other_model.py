"""The linker over a knowledge base of plants: nothing in it is about one field."""

from __future__ import annotations

import pytest

from bmsql.linking import Linker, ValueIndex
from bmsql.semantic import parse_semantic_model
from tests.linking.conftest import MakeSource, Tables
from tests.linking.measure import spelled

GARDEN = """
format: 1
name: garden
families:
  plant:
    label: plants
    subject: plant
    roles:
      plant.common: {meaning: common name}
      plant.others: {meaning: other names}
      plant.code: {meaning: accession}
      plant.cross: {meaning: crossing symbols}
      plant.pest: {meaning: pest}
  bed:
    label: beds
    roles:
      bed.light: {meaning: light}
      bed.grower: {meaning: grower}
tables:
  plants:
    family: plant
    columns:
      common: {type: STRING, role: plant.common}
      others: {type: STRING, role: plant.others}
      code: {type: STRING, role: plant.code}
      crosses: {type: STRING, role: plant.cross}
      pest: {type: STRING, role: plant.pest}
  beds:
    family: bed
    columns:
      light: {type: STRING, role: bed.light}
      grower: {type: STRING, role: bed.grower}
entities:
  plant:
    label: plant
    plural: plants
    kind: name
    nouns: [flower, flowers]
    match: {plant: {how: contains, roles: [plant.common, plant.others]}}
  accession:
    label: accession
    plural: accessions
    kind: identifier
    pattern: "\\\\bGRD-(\\\\d+)\\\\b"
    match: {plant: {how: equals, roles: [plant.code]}}
  cross:
    label: cross
    plural: crosses
    kind: symbol
    match: {plant: {how: item, roles: [plant.cross], separator: "|"}}
  pest:
    label: pest
    plural: pests
    kind: term
    match: {plant: {how: term, roles: [plant.pest]}}
  light:
    label: light
    plural: lights
    kind: category
    match: {bed: {how: term, roles: [bed.light]}}
    synonyms: {"Partial Shade": [shady, half shade]}
  grower:
    label: grower
    plural: growers
    kind: name
    match: {bed: {how: contains, roles: [bed.grower]}}
"""


def garden_tables() -> Tables:
    plants = [
        ("Foxglove", "Digitalis, Fairy Thimbles", "GRD-1", "DX1|DX2", "Aphids, Black"),
        ("Rosemary", "Salvia rosmarinus", "GRD-2", "RM7", "Leafhopper"),
        ("Honesty", "Lunaria", "GRD-3", None, None),
        ("Sweet Pea", "Lathyrus, Everlasting Pea", "GRD-4", "DX2|SWP", "Slugs"),
    ]
    columns = ("common", "others", "code", "crosses", "pest")
    beds = [("Full Sun", "Thompson & Morgan Ltd."), ("Partial Shade", "Sarah Raven Inc."), ("Full Shade", None)]
    return {
        "plants": [dict(zip(columns, row, strict=True)) for row in plants],
        "beds": [dict(zip(("light", "grower"), row, strict=True)) for row in beds],
    }


@pytest.fixture(scope="module")
def garden(make_source: MakeSource) -> Linker:
    model = parse_semantic_model(GARDEN)
    return Linker(model, ValueIndex.build(make_source(garden_tables(), "garden"), model))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where do foxgloves grow?", ["foxgloves: plant/Foxglove"]),
        ("is digitalis shady", ["digitalis: plant/Foxglove", "shady: light/Partial Shade"]),
        ("foxglov in full sun", ["foxglov: plant/Foxglove", "full sun: light/Full Sun"]),
        ("Sweet Pea or everlasting peas", ["Sweet Pea: plant/Sweet Pea", "everlasting peas: plant/Sweet Pea"]),
        ("honesty is the best policy", []),
        ("where is Honesty planted", ["Honesty: plant/Honesty"]),
        ("the honesty flower", ["honesty: plant/Honesty"]),
        ("grd-12 and GRD-3", ["grd-12: accession/GRD-12", "GRD-3: accession/GRD-3"]),
        ("crosses of DX2 and swp", ["DX2: cross/DX2", "swp: cross/SWP"]),
        ("black aphids", ["black aphids: pest/Black Aphids"]),
        ("which plants have slugs", ["slugs: pest/Slugs"]),
        (
            "Thompson and Sarah Raven",
            ["Thompson: grower/Thompson & Morgan Ltd.", "Sarah Raven: grower/Sarah Raven Inc."],
        ),
        ("LRRK2 and Alzheimer's disease", ["LRRK2: cross/~LRRK2"]),
    ],
)
def test_plants(garden: Linker, question: str, expected: list[str]) -> None:
    assert [spelled(mention) for mention in garden.link(question)] == expected


def test_stored_values(garden: Linker) -> None:
    assert garden.link("digitalis")[0].stored == {"plant": ("digitalis",)}
    assert garden.link("crosses of DX2")[0].stored == {"plant": ("DX2",)}
    assert garden.link("black aphids")[0].stored == {"plant": ("aphids, black",)}
    assert garden.link("Thompson")[0].stored == {"bed": ("thompson",)}
