"""Names, types and grouping of one query, against a catalogue."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from bmsql.sql._analysis._context import Context
from bmsql.sql._analysis._query import query_columns
from bmsql.sql._analysis._reserved_names import reserved_names
from bmsql.sql._analysis._typer import Typer
from bmsql.sql._policy import Policy
from bmsql.sql._source import Edit, Source
from bmsql.types import Catalog, Fix, Problem


class Findings(NamedTuple):
    """What is wrong, what can be repaired and how, and which tables are read.

    `arrays` are the ids of the Table nodes that are arrays of a table in scope.
    """

    problems: list[Problem]
    fixes: list[Fix]
    edits: list[Edit]
    tables: tuple[str, ...]
    arrays: frozenset[int]


def analyse(tree: exp.Expr, source: Source, catalog: Catalog, policy: Policy) -> Findings:
    """Check a faithful tree of `source`; the tree is not changed."""
    context = Context(source, catalog, policy)
    typer = Typer(context, tree)
    reserved_names(tree, context)
    query_columns(tree, None, {}, typer)
    return Findings(context.problems, context.fixes, context.edits, tuple(context.tables), frozenset(typer.arrays))
