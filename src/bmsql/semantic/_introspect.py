"""A first semantic model for any database, guessed from its catalogue; a person then improves it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import yaml

from bmsql.types import Catalog, ColumnInfo, TableInfo

# A text column with at most this many values is taken for a category.
CATEGORY_VALUES = 50
# Uniqueness of a key is checked on tables up to this many rows.
CHECKED_ROWS = 100_000
_SHOWN = 8
_LONGEST_VALUE = 60
_KEY_NAMES = ("uuid", "evidence_id", "evidence_key", "row_id", "rowid", "record_id", "id", "key", "accession")
_P_VALUE_NAMES = ("p", "p_value", "pvalue", "pval", "p_val", "padj", "fdr", "q_value")
_NUMBERS = ("INT64", "FLOAT64", "NUMERIC", "BIGNUMERIC")
_RSID = re.compile(r"rs\d+", re.IGNORECASE)
_GENE_WORDS = {"gene", "genes", "symbol"}
_SEPARATORS = (";", "|", ",")
_HEADER = """\
# A first semantic model, guessed from the tables and columns of {dataset}. It loads as it stands; to get good
# answers, read it over:
#   - say in `meaning` and `unit` what each role means; values that stand for "not recorded" go into `missing`
#   - join tables that hold the same kind of row into one family, whose roles they share
#   - add to `nouns`, `words` and `synonyms` what people call things
#   - entities: how = equals, item (of a separated list), listed, contains, term, word, prefix or region
#   - conventions find their columns by role: the shipped rules speak of gwas.*, smr.*, indication.* and drug.*
# docs/semantic-models.md explains every field.
"""


class DistinctValues(Protocol):
    """How to look at a column: its distinct values as text, at most `limit`."""

    def __call__(self, table: str, column: str, *, limit: int) -> list[str]:
        """The values."""


@dataclass
class _Guess:
    """An entity that one or several tables seem to hold."""

    kind: str
    label: str
    match: dict[str, dict[str, Any]] = field(default_factory=dict)
    pattern: str = ""


def introspect_model(catalog: Catalog, distinct: DistinctValues, *, name: str = "") -> str:
    """A semantic model as YAML: one family per table, a role per column, guessed entities and joins.

    The text loads with `parse_semantic_model`. `name` is the model's, by default the dataset's.
    """
    families = _family_names(catalog.tables)
    key = _evidence_key(catalog, distinct)
    roles = {table.name: _role_names(families[table.name], table) for table in catalog.tables}
    entities: dict[str, _Guess] = {}
    for table in catalog.tables:
        _guess_entities(table, families[table.name], roles[table.name], key, distinct, entities)
    document: dict[str, Any] = {
        "format": 1,
        "name": name or slug(catalog.dataset) or "my_database",
        "title": f"Tables of {catalog.dataset}",
    }
    if key:
        document["evidence_key"] = key
    document |= {
        "default_limit": 100,
        "families": {
            families[table.name]: _family(table, families[table.name], roles[table.name], key, entities)
            for table in catalog.tables
        },
        "tables": {
            table.name: {
                "family": families[table.name],
                **({"description": table.description} if table.description else {}),
                "columns": {
                    column.name: {"type": column.type, "role": roles[table.name][column.name]}
                    for column in table.columns
                },
            }
            for table in catalog.tables
        },
        "entities": {name: _entity(guess) for name, guess in entities.items()},
        "attributes": _attributes(catalog, families, roles, key, entities),
        "joins": _joins(entities),
    }
    body = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120, default_flow_style=None)
    note = "" if key else "# No column names each row in every table: set `evidence_key` if there is one.\n"
    return _HEADER.format(dataset=catalog.dataset or "a database") + note + body


def slug(text: str) -> str:
    """`text` as a lower-case identifier: `Gene Symbol (HGNC)` becomes `gene_symbol_hgnc`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text)
    plain = re.sub(r"\W+", "_", spaced, flags=re.ASCII).strip("_").lower()
    return f"n_{plain}" if plain[:1].isdigit() else plain


def _words(name: str) -> str:
    return slug(name).replace("_", " ") or name


def _unique(wanted: str, taken: Iterable[str]) -> str:
    used, candidate, number = set(taken), wanted, 1
    while candidate in used:
        number += 1
        candidate = f"{wanted}_{number}"
    return candidate


def _family_names(tables: Iterable[TableInfo]) -> dict[str, str]:
    names: dict[str, str] = {}
    for table in tables:
        names[table.name] = _unique(slug(table.name) or "table", names.values())
    return names


def _role_names(family: str, table: TableInfo) -> dict[str, str]:
    names: dict[str, str] = {}
    for column in table.columns:
        names[column.name] = _unique(f"{family}.{slug(column.name) or 'column'}", names.values())
    return names


def _evidence_key(catalog: Catalog, distinct: DistinctValues) -> str:
    """A column of every table that names its rows, or an empty string."""
    if not catalog.tables:
        return ""
    shared = [
        column.name
        for column in catalog.tables[0].columns
        if all(any(other.name == column.name for other in table.columns) for table in catalog.tables)
    ]
    candidates = sorted((n for n in shared if slug(n) in _KEY_NAMES), key=lambda n: _KEY_NAMES.index(slug(n)))
    return next((n for n in candidates if all(_names_rows(t, n, distinct) for t in catalog.tables)), "")


def _names_rows(table: TableInfo, column: str, distinct: DistinctValues) -> bool:
    if table.rows is None or table.rows > CHECKED_ROWS:
        return True
    return len(distinct(table.name, column, limit=table.rows + 1)) == table.rows


def _guess_entities(
    table: TableInfo,
    family: str,
    roles: dict[str, str],
    key: str,
    distinct: DistinctValues,
    entities: dict[str, _Guess],
) -> None:
    for column in table.columns:
        if column.type != "STRING" or column.name == key:
            continue
        values = distinct(table.name, column.name, limit=CATEGORY_VALUES + 1)
        recipe = _recipe(column, values)
        if recipe is None:
            continue
        kind, pattern, match = recipe
        name = slug(column.name) or "entity"
        guess = entities.get(name)
        if guess is not None and guess.kind != kind:
            # The same column name holds a category here and names there: the wider reading fits both.
            guess.kind = "name" if "category" in {guess.kind, kind} else guess.kind
        guess = entities.setdefault(name, _Guess(kind, _words(column.name), pattern=pattern))
        guess.match[family] = {**match, "roles": [roles[column.name]]}


def _recipe(column: ColumnInfo, values: list[str]) -> tuple[str, str, dict[str, Any]] | None:
    """Kind, pattern and match of the entity in a text column, or None where it holds prose."""
    if not values:
        return None
    if all(_RSID.fullmatch(value) for value in values):
        return "identifier", r"\b(rs\d+)\b", {"how": "equals"}
    separator = next((one for one in _SEPARATORS if _is_list(values, one)), "")
    if _GENE_WORDS & set(_words(column.name).split()):
        return "symbol", "", {"how": "item", "separator": separator} if separator else {"how": "equals"}
    if max(map(len, values)) > _LONGEST_VALUE:
        return None
    if len(values) <= CATEGORY_VALUES:
        return "category", "", {"how": "term"}
    return "name", "", {"how": "contains"}


def _is_list(values: list[str], separator: str) -> bool:
    """Whether some values are lists of single words."""
    return any(separator in value and " " not in value for value in values)


def _family(
    table: TableInfo, family: str, roles: dict[str, str], key: str, entities: dict[str, _Guess]
) -> dict[str, Any]:
    held = [name for name, guess in entities.items() if family in guess.match]
    subjects = sorted(held, key=lambda name: ("identifier", "symbol", "name", "category").index(entities[name].kind))
    order = next((roles[c.name] for c in table.columns if slug(c.name) in _P_VALUE_NAMES and c.type in _NUMBERS), "")
    columns = [column for column in table.columns if column.name != key]
    document: dict[str, Any] = {"label": _words(table.name), "row": f"a row of {table.name}"}
    if subjects:
        document["subject"] = subjects[0]
    document["nouns"] = [_words(table.name)]
    document["show"] = [roles[column.name] for column in columns[:_SHOWN]]
    if order:
        document["order"] = order
    document["roles"] = {
        roles[column.name]: {"meaning": column.description or _words(column.name)} for column in table.columns
    }
    return document


def _entity(guess: _Guess) -> dict[str, Any]:
    plural = guess.label if guess.label.endswith("s") else f"{guess.label}s"
    document: dict[str, Any] = {"label": guess.label, "plural": plural, "kind": guess.kind}
    if guess.pattern:
        document["pattern"] = guess.pattern
    if guess.kind == "symbol":
        document["aliases"] = "genes"
    return {**document, "nouns": list(dict.fromkeys((guess.label, plural))), "match": guess.match}


def _attributes(
    catalog: Catalog,
    families: dict[str, str],
    roles: dict[str, dict[str, str]],
    key: str,
    entities: dict[str, _Guess],
) -> dict[str, Any]:
    """What can be asked of a row: every column, and the entity it enumerates if it is one."""
    found: dict[str, dict[str, Any]] = {}
    for table in catalog.tables:
        family = families[table.name]
        for column in table.columns:
            name = slug(column.name)
            if column.name == key or not name:
                continue
            entry = found.setdefault(name, {"label": _words(column.name), "words": [_words(column.name)], "show": {}})
            entry["show"][family] = [roles[table.name][column.name]]
            if name in entities:
                entry["entity"] = name
            if column.type in _NUMBERS:
                entry.setdefault("measure", {})[family] = roles[table.name][column.name]
                if name in _P_VALUE_NAMES:
                    entry["low"] = True
            if column.type == "BOOL":
                entry.setdefault("test", {})[family] = roles[table.name][column.name]
    return found


def _joins(entities: dict[str, _Guess]) -> list[dict[str, Any]]:
    """Entities that several families hold join their tables, where a row holds one whole value."""
    joins = []
    for name, guess in entities.items():
        keys = {
            family: "{" + match["roles"][0] + "}"
            for family, match in guess.match.items()
            if match["how"] == "equals" or (match["how"] == "term" and guess.kind == "category")
        }
        if len(keys) > 1:
            joins.append({"entity": name, "keys": keys})
    return joins
