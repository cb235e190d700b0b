"""The columns of a file against those that the semantic model expects, and the SELECT that loads them.

Names ignore case, as BigQuery's do. A type is accepted where every value can be kept as it is: whole
numbers stored as floating point (as pandas does where some are missing) are integers, integers are
floating point numbers, and a column without any value is of every type. Text files hold no types: each
cell must read as the type expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bmsql.backends import bigquery_type, quoted
from bmsql.errors import KnowledgeBaseError
from bmsql.loading._reader import FileRelation
from bmsql.semantic import SemanticModel
from bmsql.types import ColumnInfo

SOURCE_COLUMN = "_source"
"""A column of this name, in a table with evidence keys, names each row's source and is no part of the table."""

_STORED = {
    "STRING": "VARCHAR",
    "INT64": "BIGINT",
    "FLOAT64": "DOUBLE",
    "BOOL": "BOOLEAN",
    "BYTES": "BLOB",
    "DATE": "DATE",
    "TIME": "TIME",
    "DATETIME": "TIMESTAMP",
    "NUMERIC": "DECIMAL(38, 9)",
}
_INEXACT = ("FLOAT64", "NUMERIC", "BIGNUMERIC")
_NOTHING = '"null"'
# What `error()` says for a cell, so that the column and the cell can be told again.
_MARK = "bmsql cell"
_MARKED = re.compile(rf"{_MARK} (\d+): ([^\n]*)")


@dataclass(frozen=True)
class TableSchema:
    """The columns of a table to be made, and the SELECT list that makes them from the files.

    checked: whether the semantic model knows the table. key, source: the columns with the evidence key
    and, in the files, with the source of each row; empty where there is none.
    """

    columns: tuple[ColumnInfo, ...]
    select: tuple[str, ...]
    checked: bool
    key: str = ""
    source: str = ""

    @property
    def text(self) -> str:
        """The SELECT list as SQL."""
        return ", ".join(self.select)


def read_schema(relation: FileRelation, model: SemanticModel, table: str, *, check: bool = True) -> TableSchema:
    """What the files of `table` become.

    Raises KnowledgeBaseError, with everything that is wrong, where the semantic model expects other columns.
    """
    found = {name.lower(): (name, kind) for name, kind in relation.columns}
    spec = model.tables.get(table)
    expected: Mapping[str, str] = {}
    if check and spec is not None:
        expected = {name: column.type for name, column in spec.columns.items()}
    key = next((name for low, (name, _) in found.items() if low == model.evidence_key.lower()), "")
    source = found[SOURCE_COLUMN][0] if key and SOURCE_COLUMN in found else ""
    if not expected:
        kept = [(name, kind) for name, kind in relation.columns if name != source]
        columns = tuple(ColumnInfo(name=name, type=bigquery_type(kind)) for name, kind in kept)
        select = tuple(quoted(name) for name, _ in kept)
        return TableSchema(columns, select, False, key, source)
    problems = list(_problems(relation, expected, table, source))
    if problems:
        more = "" if len(problems) == 1 else " " + " ".join(problems[1:])
        raise KnowledgeBaseError(
            f"{relation.file}: {problems[0]}{more}",
            remedy=f"`bmsql schema {table}` shows the columns; --no-check loads a table as it is.",
        )
    select = tuple(
        _converted(number, name, *found[name.lower()], kind, text=relation.text)
        for number, (name, kind) in enumerate(expected.items())
    )
    columns = tuple(
        ColumnInfo(name=name, type=kind, description=model.meaning(table, name)[0]) for name, kind in expected.items()
    )
    return TableSchema(columns, select, True, next(iter(c for c in expected if c.lower() == key.lower()), ""), source)


def _problems(relation: FileRelation, expected: Mapping[str, str], table: str, source: str) -> Iterator[str]:
    found = {name.lower(): bigquery_type(kind) for name, kind in relation.columns}
    known = {name.lower() for name in expected}
    for name, kind in expected.items():
        if name.lower() not in found:
            yield f"column {name} ({kind}) of {table} is missing."
        elif not relation.text and not _fits(found[name.lower()], kind, relation.kind(name)):
            yield f"column {name} is {found[name.lower()]}, but {kind} is expected."
    extra = [name for name, _ in relation.columns if name.lower() not in known and name != source]
    for name in extra:
        yield f"column {name} is not one of {table}."


def _fits(found: str, expected: str, stored: str) -> bool:
    if found == expected or stored == _NOTHING:
        return True
    numbers = {"INT64": _INEXACT, "FLOAT64": ("INT64", "NUMERIC", "BIGNUMERIC"), "NUMERIC": ("INT64",)}
    return found in numbers.get(expected, ())


def _converted(number: int, name: str, column: str, stored: object, kind: str, *, text: bool) -> str:
    """SQL for one column: as it is where it can be, else converted or an error that names the cell."""
    cell, into, alias = quoted(column), _STORED.get(kind), f" AS {quoted(name)}"
    if into is None or (text and kind == "STRING"):
        return cell + alias
    if not text and (str(stored).lower() == _NOTHING or bigquery_type(stored) == kind):  # type: ignore[arg-type]
        return f"CAST({cell} AS {into}){alias}"
    if kind == "INT64":
        # A cast alone would round 1.5; and text may read `3.0`, as pandas writes it.
        number_ = f"TRY_CAST({cell} AS DOUBLE)"
        value = f"CASE WHEN {number_} = trunc({number_}) THEN TRY_CAST({cell} AS BIGINT) END"
    else:
        value = f"TRY_CAST({cell} AS {into})"
    wrong = f"error('{_MARK} {number}: ' || CAST({cell} AS VARCHAR))"
    return f"CASE WHEN {cell} IS NOT NULL THEN coalesce({value}, {wrong}) END{alias}"


def wrong_cell(message: str, schema: TableSchema, file: str) -> KnowledgeBaseError | None:
    """The error about the cell that DuckDB stopped at, from its message; None where it was another."""
    marked = _MARKED.search(message)
    if marked is None:
        return None
    column = schema.columns[int(marked[1])]
    return KnowledgeBaseError(
        f"{file}: column {column.name} holds {marked[2]!r}, but {column.type} is expected.",
        remedy="Correct the cell. If it stands for a missing value, name it with --null.",
    )
