"""A first semantic model from a catalogue: it loads, and its guesses are the obvious ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bmsql.semantic import SemanticModel, introspect_model, parse_semantic_model
from bmsql.semantic._introspect import CATEGORY_VALUES, slug
from bmsql.types import Catalog, ColumnInfo, TableInfo

VALUES = {
    ("Trial Results", "id"): [f"t{n}" for n in range(4)],
    ("Trial Results", "rsID"): ["rs1", "rs22", "rs333"],
    ("Trial Results", "Gene Symbol"): ["BIN1;CR1", "APOE"],
    ("Trial Results", "arm"): ["placebo", "verum"],
    ("Trial Results", "drugName"): [f"drug {n}" for n in range(CATEGORY_VALUES + 1)],
    ("Trial Results", "abstract"): ["A long text about what was done, with whom, where, when and why. " * 3],
    ("arms", "id"): [f"a{n}" for n in range(2)],
    ("arms", "arm"): ["placebo", "verum"],
}


def distinct(table: str, column: str, *, limit: int) -> list[str]:
    return VALUES.get((table, column), [])[:limit]


def table(name: str, rows: int | None, **columns: str) -> TableInfo:
    return TableInfo(name=name, rows=rows, columns=tuple(ColumnInfo(name=n, type=t) for n, t in columns.items()))


CATALOG = Catalog(
    project="lab",
    dataset="My Study",
    tables=(
        table(
            "Trial Results",
            4,
            id="STRING",
            rsID="STRING",
            **{"Gene Symbol": "STRING"},
            arm="STRING",
            drugName="STRING",
            abstract="STRING",
            pValue="FLOAT64",
            approved="BOOL",
            tags="ARRAY<STRING>",
        ),
        table("arms", 2, id="STRING", arm="STRING"),
    ),
)


@pytest.fixture(scope="module")
def model() -> SemanticModel:
    return parse_semantic_model(introspect_model(CATALOG, distinct))


def test_families_tables_and_key(model: SemanticModel) -> None:
    assert (model.name, model.evidence_key) == ("my_study", "id")
    assert list(model.families) == ["trial_results", "arms"]
    assert model.column("Trial Results", "trial_results.gene_symbol") == "Gene Symbol"
    assert all(column.role for spec in model.tables.values() for column in spec.columns.values())
    family = model.families["trial_results"]
    assert (family.subject, family.order) == ("rs_id", "trial_results.p_value")
    assert "trial_results.id" not in family.show


def test_entities(model: SemanticModel) -> None:
    kinds = {name: entity.kind for name, entity in model.entities.items()}
    assert kinds == {"rs_id": "identifier", "gene_symbol": "symbol", "arm": "category", "drug_name": "name"}
    gene = model.entities["gene_symbol"].match["trial_results"]
    assert (gene.how, gene.separator) == ("item", ";")
    assert model.entities["drug_name"].match["trial_results"].how == "contains"
    assert set(model.entities["arm"].match) == {"trial_results", "arms"}
    assert [join.entity for join in model.joins] == ["arm"]


def test_attributes(model: SemanticModel) -> None:
    p_value = model.attributes["p_value"]
    assert (p_value.words, p_value.low) == (("p value",), True)
    assert p_value.measure == {"trial_results": "trial_results.p_value"}
    assert model.attributes["approved"].test == {"trial_results": "trial_results.approved"}
    assert model.attributes["arm"].entity == "arm"


def test_key_must_name_each_row() -> None:
    repeated = CATALOG.model_copy(update={"tables": (table("Trial Results", 9, id="STRING", arm="STRING"),)})
    text = introspect_model(repeated, distinct)
    assert "# No column names each row" in text
    assert parse_semantic_model(text).evidence_key == ""
    unknown = CATALOG.model_copy(update={"tables": (table("big", None, ID="STRING", n="INT64"),)})
    assert parse_semantic_model(introspect_model(unknown, distinct)).evidence_key == "ID"


def test_name_can_be_given() -> None:
    assert parse_semantic_model(introspect_model(CATALOG, distinct, name="mine")).name == "mine"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("nearestGene", "nearest_gene"),
        ("p_SMR_multi", "p_smr_multi"),
        ("Größe (cm)", "gr_e_cm"),
        ("2nd", "n_2nd"),
        ("---", ""),
        ("chr 38", "chr_38"),
    ],
)
def test_slug(text: str, wanted: str) -> None:
    assert slug(text) == wanted


NAMES = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=12)
COLUMNS = st.lists(
    st.tuples(NAMES, st.sampled_from(["STRING", "INT64", "FLOAT64", "BOOL", "DATE", "ARRAY<STRING>"])),
    min_size=1,
    max_size=5,
    unique_by=lambda column: column[0].lower(),
)
TABLES = st.dictionaries(NAMES, COLUMNS, min_size=1, max_size=3)


@settings(max_examples=40, deadline=None)
@given(tables=TABLES, values=st.lists(st.text(max_size=20), max_size=5))
def test_whatever_the_names_are_the_model_loads(tables: dict[str, list[tuple[str, str]]], values: list[str]) -> None:
    catalog = Catalog(
        project="p",
        dataset="d",
        tables=tuple(
            TableInfo(name=name, rows=None, columns=tuple(ColumnInfo(name=c, type=t) for c, t in columns))
            for name, columns in tables.items()
        ),
    )
    model = parse_semantic_model(introspect_model(catalog, lambda table, column, *, limit: values))
    assert {name: list(spec.columns) for name, spec in model.tables.items()} == {
        name: [column for column, _ in columns] for name, columns in tables.items()
    }
