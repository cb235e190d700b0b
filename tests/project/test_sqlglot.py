"""sqlglot serves compiled or not: nothing here subclasses it, and what is installed is what runs."""

from __future__ import annotations

import importlib
import inspect
from importlib.util import find_spec
from pathlib import Path

import pytest

import bmsql

SOURCES = Path(bmsql.__file__).parent


def _modules() -> list[str]:
    """The modules that name sqlglot: whoever subclasses a class of it must, or inherits from one that does."""
    files = [file for file in SOURCES.rglob("*.py") if "sqlglot" in file.read_text(encoding="utf-8")]
    return [".".join(("bmsql", *file.relative_to(SOURCES).with_suffix("").parts)) for file in files]


def test_no_class_of_sqlglot_is_subclassed() -> None:
    """A compiled class cannot be: see `bmsql.sql._generator` and `bmsql.sql._faithful` for other ways."""
    modules = [importlib.import_module(name.removesuffix(".__init__")) for name in _modules()]
    assert len(modules) > 50
    found_in = [value for module in modules for value in vars(module).values() if inspect.isclass(value)]
    own = {found for found in found_in if found.__module__.startswith("bmsql.")}
    assert own
    heirs = sorted(
        f"{found.__module__}.{found.__qualname__}"
        for found in own
        if any(base.__module__.startswith("sqlglot") for base in found.__mro__)
    )
    assert heirs == []


def test_a_sqlglot_of_the_tests_is_compiled_throughout_or_not_at_all() -> None:
    """`make test-interpreted` tests what it says: no part falls back to the interpreted one."""
    modules = ("parser", "generator", "tokenizer_core", "expressions.core", "optimizer.qualify_columns")
    files = [Path(str(importlib.import_module(f"sqlglot.{name}").__file__)) for name in modules]
    compiled = find_spec("sqlglot.parser__mypyc") is not None
    assert [file.suffix for file in files] == [".so" if compiled else ".py"] * len(files)


def test_own_writers_are_of_one_generator_only() -> None:
    import sqlglot

    from bmsql.sql import format_sql

    assert format_sql("SELECT a IS NOT NULL FROM t", pretty=False) == "SELECT a IS NOT NULL FROM t"
    tree = sqlglot.parse_one("SELECT a IS NOT NULL FROM t", read="bigquery")
    assert tree.sql("bigquery") == "SELECT NOT a IS NULL FROM t"
    assert sqlglot.parse_one("SELECT 1.5", read="duckdb").sql("duckdb") == "SELECT 1.5"


@pytest.mark.parametrize("text", ["SELECT U&'d'", "SELECT U&'\\0061'"])
def test_the_class_of_templates_is_none_of_bigquery(text: str) -> None:
    from sqlglot import exp

    from bmsql.errors import SqlSyntaxError
    from bmsql.sql import parse
    from bmsql.sql.duckdb._template import Template

    try:
        tree: exp.Expr | None = parse(text)
    except SqlSyntaxError:
        tree = None
    assert tree is None or tree.find(Template) is None
