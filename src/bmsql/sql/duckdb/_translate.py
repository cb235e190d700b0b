"""`to_duckdb`: parse, prepare, resolve names and types, rewrite, name the output, write."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import ErrorLevel, exp
from sqlglot.errors import OptimizeError, ParseError, SchemaError, SqlglotError, TokenError, UnsupportedError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from bmsql.errors import InvalidSqlError, SqlSyntaxError, UnsupportedSqlError
from bmsql.sql.duckdb._kinds import kind, unsupported
from bmsql.sql.duckdb._prepare import SCHEMA, prepare
from bmsql.sql.duckdb._template import generate, template
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

    Raises `SqlSyntaxError` when it does not parse, `InvalidSqlError` for tables, columns and types
    that BigQuery would refuse and DuckDB might not, `UnsupportedSqlError` where DuckDB cannot be
    relied on to give BigQuery's result.
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
        tree = annotate_types(tree, schema=schema, dialect="bigquery")
        if unnested:
            _drop_star_structs(tree)
        made = Walk().visit(tree)
        _name_output(made, catalog)
        return generate(made)
    except (OptimizeError, SchemaError) as e:
        raise InvalidSqlError(_first_line(e), remedy="Check the names against the catalogue.") from e
    except UnsupportedError as e:
        raise UnsupportedSqlError(_first_line(e)) from e
    except RecursionError as e:
        raise UnsupportedSqlError("The query is nested too deeply.", remedy="Use WITH.") from e


def _parse(sql: str | exp.Query) -> exp.Expr:
    if isinstance(sql, exp.Expr):
        tree: exp.Expr = sql.copy()
    else:
        try:
            tree = sqlglot.parse_one(sql, read="bigquery", error_level=ErrorLevel.IMMEDIATE)
        except (ParseError, TokenError) as e:
            raise SqlSyntaxError(_first_line(e)) from e
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


def _drop_star_structs(tree: exp.Expr) -> None:
    """A star over UNNEST of structs is their fields, not the struct as well."""
    for select in tree.find_all(exp.Select):
        structs = {
            (u.args["alias"].columns[0].name if u.args["alias"].columns else u.args["alias"].name).lower()
            for u in _unnests_of(select)
            if (u.expressions and u.expressions[0].is_type("ARRAY<STRUCT>")) or _of_structs(u)
        }
        if structs:
            keep = [
                item for item in select.expressions
                if "spelled" in item.meta or not (item.alias_or_name.lower() in structs and kind(item) == "R")
            ]  # fmt: skip
            if len(keep) != len(select.expressions):
                select.set("expressions", keep)


def _unnests_of(select: exp.Select) -> list[exp.Unnest]:
    first = select.args.get("from_")
    items = [first.this] if first is not None else []
    items += [join.this for join in select.args.get("joins") or ()]
    return [item for item in items if isinstance(item, exp.Unnest)]


def _of_structs(unnest: exp.Unnest) -> bool:
    inner = unnest.expressions[0].type if unnest.expressions else None
    return bool(
        inner is not None
        and inner.this == exp.DType.ARRAY
        and inner.expressions
        and inner.expressions[0].this == exp.DType.STRUCT
    )


def _name_output(tree: exp.Expr, catalog: Catalog) -> None:
    """Give the output columns their names as spelled, and arrays the form that BigQuery returns."""
    leaves: list[exp.Select] = []
    _leaves(tree, leaves)
    if not leaves:
        return
    starred = any("spelled" not in item.meta for item in leaves[0].expressions)
    spelled = _spellings(tree, catalog) if starred else {}
    unnamed = 0
    for item in leaves[0].expressions:
        if not isinstance(item, exp.Alias):
            continue
        name = str(item.meta.get("spelled") or spelled.get(item.alias.lower(), item.alias))
        if name.startswith("_f") and name[2:].isdigit():
            name = f"f{unnamed}_"
        if name == f"f{unnamed}_":
            unnamed += 1
        item.set("alias", exp.to_identifier(name, quoted=True))
    for select in leaves:
        for item in select.expressions:
            if isinstance(item, exp.Alias) and kind(item.this) == "A":
                item.set("this", _array_output(item.this, item.alias))


def _array_output(value: exp.Expr, name: str) -> exp.Expr:
    """BigQuery returns a NULL array as an empty one, and refuses a NULL element."""
    if value.args.get("never_null"):
        return template("COALESCE({a}, [])", a=value)
    field = name.replace("'", "''").replace("{", "").replace("}", "")
    return template(
        f"CASE WHEN {{a}} IS NULL THEN [] WHEN list_count({{a}}) < len({{a}}) THEN "
        f"{{fail:Array cannot have a null element; error in writing field {field}}} ELSE {{a}} END",
        a=value,
    )  # fmt: skip


def _leaves(node: exp.Expr, found: list[exp.Select]) -> None:
    if isinstance(node, exp.Select):
        found.append(node)
    elif isinstance(node, exp.SetOperation):
        _leaves(node.this, found)
        _leaves(node.expression, found)
    elif isinstance(node, (exp.Subquery, exp.Paren)):
        _leaves(node.this, found)


def _spellings(tree: exp.Expr, catalog: Catalog) -> dict[str, str]:
    """How names that came through a star are spelled: by the query, else by the catalogue."""
    spelled: dict[str, str] = {}
    for table in tree.find_all(exp.Table):
        info = catalog.by_name.get(table.name)
        if info is not None:
            spelled.update((column.name.lower(), column.name) for column in info.columns)
    for select in tree.find_all(exp.Select):
        for item in select.expressions:
            if name := item.meta.get("spelled"):
                spelled[str(name).lower()] = str(name)
    return spelled
