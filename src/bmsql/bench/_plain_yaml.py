"""Plain question files: a YAML list of questions with gold SQL, written by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlglot
import yaml
from pydantic import ValidationError

from bmsql.bench._categories import sql_categories
from bmsql.bench._files import Reading, invalid, no_yaml, open_text
from bmsql.bench._labels import read_bio_categories, read_sql_categories
from bmsql.bench._types import Question
from bmsql.errors import BenchmarkFileError

_FIELDS = {
    "id",
    "q",
    "question",
    "sql",
    "gold_sql",
    "key",
    "expect",
    "answer",
    "sql_categories",
    "bio_categories",
    "template",
    "family",
    "split",
    "profile",
    "query_type",
}


def read_plain(path: Path, reading: Reading) -> Iterator[tuple[int, Question]]:
    """The questions of a YAML list, each with its line.

    An entry has `id`, `q`, and either `sql` or `expect: abstain`; `key` names the column to compare, or is `numbers`;
    tables may be abbreviated in braces. Raises BenchmarkFileError.
    """
    for line, entry in _entries(path):
        try:
            yield line, _question(entry, path, reading)
        except ValidationError as error:
            raise invalid(error, path, line) from error
        except ValueError as error:
            raise BenchmarkFileError(f"{error}.", file=str(path), line=line, remedy="Correct the entry.") from error


def _entries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    text = "".join(open_text(path))
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if not isinstance(root, yaml.SequenceNode):
            raise BenchmarkFileError(
                "a list of questions was expected.", file=str(path), line=1, remedy="Begin each with a dash."
            )
        for node in root.value:
            line = node.start_mark.line + 1
            entry = loader.construct_object(node, deep=True)
            if not isinstance(entry, dict):
                raise BenchmarkFileError(
                    "a question is a mapping.", file=str(path), line=line, remedy="Give id, q and sql."
                )
            yield line, entry
    except yaml.YAMLError as error:
        raise no_yaml(error, path) from error


def _question(entry: dict[str, Any], path: Path, reading: Reading) -> Question:
    if unknown := sorted(set(map(str, entry)) - _FIELDS):
        raise ValueError(f"unknown field {unknown[0]!r}; there are {', '.join(sorted(_FIELDS))}")
    if entry.get("expect") not in (None, "abstain"):
        raise ValueError(f"expect is {entry['expect']!r}; it can be 'abstain' only")
    common = {
        "id": str(entry.get("id", "")),
        "question": str(entry.get("q") or entry.get("question") or ""),
        "gold_answer": str(entry.get("answer") or ""),
        "query_type": str(entry.get("query_type") or ""),
        "bio_categories": read_bio_categories(entry.get("bio_categories")),
        "template": str(entry.get("template") or entry.get("family") or ""),
        "split": entry.get("split") or "",
        "profile": entry.get("profile") or "",
        "source": path.name,
    }
    sql = str(entry.get("sql") or entry.get("gold_sql") or "")
    if entry.get("expect") == "abstain":
        return Question(**common, answer_kind="abstain", gold_sql=sql)
    for short, name in reading.tables.items():
        sql = sql.replace(f"{{{short}}}", f"`{name}`")
    key = str(entry.get("key") or reading.evidence_key)
    try:
        categories = read_sql_categories(entry.get("sql_categories"))
        if sql and not categories:
            categories = sql_categories(sql, reading.logical)
    except sqlglot.errors.SqlglotError as error:
        raise ValueError(f"the gold query does not parse: {str(error).splitlines()[0]}") from error
    numbers = key == "numbers"
    kind = "numbers" if numbers else "keys" if key.lower() == reading.evidence_key.lower() else "values"
    return Question(**common, answer_kind=kind, key="" if numbers else key, gold_sql=sql, sql_categories=categories)
