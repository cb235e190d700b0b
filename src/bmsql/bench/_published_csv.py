"""The published CSV files of the benchmark: one question a row, rows of gold as text."""

from __future__ import annotations

import ast
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlglot
from pydantic import ValidationError
from sqlglot import exp

from bmsql.bench._categories import sql_categories
from bmsql.bench._cells import cells, is_number
from bmsql.bench._files import Reading, invalid, open_text
from bmsql.bench._labels import read_bio_categories, read_sql_categories
from bmsql.bench._types import AnswerKind, Gold, Question
from bmsql.errors import BenchmarkFileError

# As it stands within and before the quotes of a table's name.
PLACEHOLDERS = ("`{dataset_name}`.", "{dataset_name}.")
_NEEDED = ("uuid", "question", "sql_query")
# What `repr` writes for values that have no literal in Python.
_MISSING = {"nan", "NaN", "NaT", "null", "none", "NA"}


def read_published(path: Path, reading: Reading) -> Iterator[tuple[int, Question]]:
    """The questions of a published file, each with the line it begins on.

    Columns: uuid, question, sql_query; and, where there, answer, execution_results, query_type, sql_category,
    bio_category. Tables lose the placeholder of their data set. Raises BenchmarkFileError.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # rows of gold are long
    table = csv.DictReader(open_text(path), strict=True)
    line = 1
    try:
        missing = [name for name in _NEEDED if name not in (table.fieldnames or ())]
        if missing:
            raise BenchmarkFileError(
                f"the columns {', '.join(missing)} are missing.",
                file=str(path),
                line=1,
                remedy="Give a published file with the columns uuid, question, answer, sql_query, execution_results, "
                "query_type, sql_category, bio_category.",
            )
        for row in table:
            line += 1
            try:
                question = _question(row, path, reading)
            except ValidationError as error:
                raise invalid(error, path, line) from error
            except (ValueError, SyntaxError) as error:
                raise BenchmarkFileError(f"{error}.", file=str(path), line=line, remedy="Correct the row.") from error
            yield line, question
            line = table.line_num
    except csv.Error as error:
        raise BenchmarkFileError(f"{error}.", file=str(path), line=table.line_num, remedy="Write it as CSV.") from error


def _question(row: dict[str, str], path: Path, reading: Reading) -> Question:
    sql = _text(row, "sql_query")
    for placeholder in PLACEHOLDERS:
        sql = sql.replace(placeholder, "")
    tree = _parsed(sql)
    expected = _gold(_text(row, "execution_results"))
    categories = read_sql_categories(row.get("sql_category"))
    kind, key = answer_kind(tree, expected, reading.evidence_key)
    identifier = _text(row, "uuid")
    return Question(
        id=identifier,
        question=_text(row, "question"),
        answer_kind=kind,
        key=key,
        gold_sql=sql,
        expected=expected,
        gold_answer=_text(row, "answer"),
        query_type=_text(row, "query_type"),
        sql_categories=categories or sql_categories(sql, reading.logical),
        bio_categories=read_bio_categories(row.get("bio_category")),
        # Questions of one template are numbered behind a point: Q25.1274.
        template=identifier.partition(".")[0],
        source=path.name,
    )


def answer_kind(tree: exp.Expr, expected: Gold | None, evidence_key: str) -> tuple[AnswerKind, str]:
    """What is compared: the evidence key where gold selects it, else numbers for calculations, else the first column.

    The second value is the column, empty for numbers.
    """
    outputs = list(expected.columns) if expected and expected.columns else _outputs(tree)
    for name in outputs:
        if name.lower() == evidence_key.lower():
            return "keys", name
    computed = any(output.find(exp.AggFunc) is not None for select in _selects(tree) for output in select.expressions)
    rows = expected.rows if expected else ()
    numeric = bool(rows) and all(value is None or is_number(value) for row in rows for value in row)
    if computed or numeric or not outputs:
        return "numbers", ""
    return "values", outputs[0]


def _outputs(tree: exp.Expr) -> list[str]:
    return [name for name in getattr(tree, "named_selects", []) if name != "*"]


def _selects(tree: exp.Expr) -> list[exp.Select]:
    """The SELECTs whose rows are the result: both sides of a UNION, no subquery."""
    if isinstance(tree, exp.SetOperation):
        return [*_selects(tree.this), *_selects(tree.expression)]
    if isinstance(tree, exp.Subquery):
        return _selects(tree.this)
    return [tree] if isinstance(tree, exp.Select) else []


def _parsed(sql: str) -> exp.Expr:
    try:
        return sqlglot.parse_one(sql, read="bigquery")
    except sqlglot.errors.SqlglotError as error:
        first = str(error).splitlines()[0]
        raise ValueError(f"the gold query does not parse: {first}") from error


def _gold(text: str) -> Gold | None:
    """The rows written in a cell as JSON or as Python; None for an empty cell. Raises ValueError."""
    if not text:
        return None
    try:
        data = json.loads(text)
    except json.JSONDecodeError:
        data = _python_literal(text)
    columns, rows = _table(data)
    return Gold(columns=columns, rows=cells(rows))


def _table(data: Any) -> tuple[tuple[str, ...], list[list[Any]]]:
    if isinstance(data, list):
        if not data:
            return (), []
        if all(isinstance(row, dict) for row in data):
            names = tuple(dict.fromkeys(str(name) for row in data for name in row))
            return names, [[row.get(name) for name in names] for row in data]
    if isinstance(data, dict) and data:
        # A data frame by columns: values as a list, or by the row's index.
        values = {
            str(name): list(column.values()) if isinstance(column, dict) else column for name, column in data.items()
        }
        if all(isinstance(column, list) for column in values.values()) and len({*map(len, values.values())}) == 1:
            return tuple(values), [list(row) for row in zip(*values.values(), strict=True)]
    raise ValueError("execution_results is neither a list of rows with column names nor a table by columns")


def _python_literal(text: str) -> Any:
    """A value as `repr` writes it; missing values become None, wrapped ones (`Timestamp('...')`) what they hold."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return ast.literal_eval(_Plain().visit(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError("execution_results is neither JSON nor a Python literal") from error


class _Plain(ast.NodeTransformer):
    """Names for missing values become None, and calls their first argument."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in _MISSING:
            return ast.Constant(value=None)
        return ast.Constant(value={"true": True, "false": False}.get(node.id, node.id))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        visited: ast.AST = self.visit(node.args[0]) if node.args else ast.Constant(value=None)
        return visited


def _text(row: dict[str, str], name: str) -> str:
    return (row.get(name) or "").strip()
