"""`to_duckdb`: parse, prepare, resolve names and types, rewrite, name the output, write."""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp
from sqlglot.errors import OptimizeError, SchemaError, SqlglotError, UnsupportedError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from bmsql.errors import InvalidSqlError, SqlError, UnsupportedSqlError
from bmsql.sql._parse import parse
from bmsql.sql._shape import ByShape, Pieces, pieces_of
from bmsql.sql._tree import copied, release
from bmsql.sql.duckdb._kinds import unsupported
from bmsql.sql.duckdb._output import drop_star_structs, has_star, name_output, spellings
from bmsql.sql.duckdb._prepare import SCHEMA, prepare
from bmsql.sql.duckdb._template import generate
from bmsql.sql.duckdb._walk import Walk
from bmsql.types import Catalog

#: Run on a connection before its first query, and before its configuration is locked.
DUCKDB_SETTINGS: tuple[str, ...] = (
    "SET TimeZone = 'UTC'",
    "SET ieee_floating_point_ops = false",
    "SET integer_division = false",
    "SET scalar_subquery_error_on_multiple_rows = true",
    "SET preserve_insertion_order = true",
)


def to_duckdb(sql: str | exp.Query, catalog: Catalog) -> str:
    """BigQuery SQL as DuckDB SQL of the same meaning, over plain tables of the main schema.

    `sql` is a text, or a tree parsed in the BigQuery dialect, which is left as it is. Output columns
    have the names that BigQuery gives them.

    Raises `SqlSyntaxError` when it does not parse, `ForbiddenSqlError` when it is no query,
    `InvalidSqlError` for tables, columns and types that BigQuery would refuse and DuckDB might not,
    `UnsupportedSqlError` where DuckDB cannot be relied on to give BigQuery's result.
    """
    tree = _parse(sql)
    try:
        unnested = prepare(tree, catalog)
        schema = _schema(catalog)
        tree = qualify(
            tree,
            schema=schema,
            dialect="bigquery",
            validate_qualify_columns=False,
            quote_identifiers=True,
            identify=True,
        )
        _finish_types(tree, schema)
        if unnested:
            drop_star_structs(tree)
        spelled = spellings(tree, catalog) if has_star(tree) else {}
        made = Walk(lambda: spellings(tree, catalog)).visit(tree)
        name_output(made, spelled)
        written = generate(made)
        release(made)
        return written
    except (OptimizeError, SchemaError) as e:
        raise InvalidSqlError(_first_line(e), remedy="Check the names against the catalogue.") from e
    except UnsupportedError as e:
        raise UnsupportedSqlError(_first_line(e)) from e
    except RecursionError as e:
        raise UnsupportedSqlError("The query is nested too deeply.", remedy="Use WITH.") from e


def _finish_types(tree: exp.Expr, schema: MappingSchema) -> None:
    """Types are inferred as names are resolved, and once more where there are nested ones.

    Resolving names does not reach all elements of arrays, and writes the fields of structs otherwise.
    """
    missing: list[exp.Expr] = []
    for node in tree.walk():
        kind = node.type.this if node.type is not None else None
        if kind == exp.DType.STRUCT or (isinstance(node, exp.Column) and kind in (None, exp.DType.UNKNOWN)):
            annotate_types(tree, schema=schema, dialect="bigquery")
            return
        if kind == exp.DType.NULL:
            missing.append(node)
    for node in missing:
        node.type = exp.DType.BIGINT  # the type of NULL in BigQuery


class Translator:
    """`to_duckdb` for one catalogue; the texts of one shape are translated once."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._known: ByShape[Pieces] = ByShape(catalog)

    def __call__(self, sql: str) -> str:
        """`sql` for DuckDB. Raises as `to_duckdb` does."""
        shape = self._known.shape(sql)
        if shape is None:
            return to_duckdb(sql, self.catalog)
        known = self._known.get(shape)
        if known is None:
            try:
                known = pieces_of(to_duckdb(shape.marked, self.catalog), len(shape.values))
            except SqlError:
                # What is wrong is told of the text as it is.
                known = None
            if known is None:
                return to_duckdb(sql, self.catalog)
            self._known.put(shape, known)
        return known.filled(shape.values)


def _parse(sql: str | exp.Query) -> exp.Expr:
    tree: exp.Expr = copied(sql) if isinstance(sql, exp.Expr) else parse(sql)
    if not isinstance(tree, exp.Query):
        raise unsupported("Only a query is translated", "Write one SELECT.")
    return tree


def _first_line(error: SqlglotError) -> str:
    text = str(error).splitlines()
    return text[0] if text else type(error).__name__


@lru_cache(maxsize=8)
def _schema_of(tables: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]) -> MappingSchema:
    known = {name: dict(columns) for name, columns in tables if columns}
    return MappingSchema({SCHEMA: known} if known else {}, dialect="bigquery")


_schemas: dict[int, tuple[Catalog, MappingSchema]] = {}


def _schema(catalog: Catalog) -> MappingSchema:
    """The catalogue as sqlglot's schema: made once, for a catalogue is immutable."""
    known = _schemas.get(id(catalog))
    if known is not None and known[0] is catalog:
        return known[1]
    made = _schema_of(tuple((t.name, tuple((c.name, c.type) for c in t.columns)) for t in catalog.tables))
    if len(_schemas) >= 8:
        _schemas.clear()
    _schemas[id(catalog)] = (catalog, made)
    return made
