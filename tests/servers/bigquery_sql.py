"""GoogleSQL on DuckDB, for the loopback BigQuery: schemas, bytes, rows in the form of the REST API."""

from __future__ import annotations

import base64
import copy
import dataclasses
import datetime as dt
import decimal
import math
import re
import threading
from dataclasses import dataclass, field
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.schema import MappingSchema

from bmsql.errors import SqlError
from bmsql.sql.duckdb import DUCKDB_SETTINGS, to_duckdb
from bmsql.types import Catalog, ColumnInfo, TableInfo

# DuckDB's scalar types as the REST API names them, and the logical bytes of a value.
SCALARS: dict[str, tuple[str, int]] = {
    "BIGINT": ("INTEGER", 8), "INTEGER": ("INTEGER", 8), "HUGEINT": ("INTEGER", 8), "SMALLINT": ("INTEGER", 8),
    "DOUBLE": ("FLOAT", 8), "FLOAT": ("FLOAT", 8), "BOOLEAN": ("BOOLEAN", 1), "VARCHAR": ("STRING", 0),
    "BLOB": ("BYTES", 0), "DATE": ("DATE", 8), "TIME": ("TIME", 8), "TIMESTAMP": ("DATETIME", 8),
    "TIMESTAMP WITH TIME ZONE": ("TIMESTAMP", 8), "JSON": ("JSON", 0), "UBIGINT": ("INTEGER", 8),
}  # fmt: skip
SUFFIX = "suffix_of_the_table"
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class Refused(Exception):  # noqa: N818 - what an HTTP answer is made of
    """An error of the API: HTTP status, reason and message."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status, self.reason, self.message = status, reason, message


@dataclass
class Table:
    """A table with what DuckDB does not know of it."""

    dataset: str
    name: str
    view: bool = False
    meta: dict[str, Any] = field(default_factory=dict)


class Database:
    """Datasets of tables, and queries over them."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.tables: dict[tuple[str, str], Table] = {}
        self._root = duckdb.connect()
        for setting in DUCKDB_SETTINGS:
            self._root.execute(setting)
        self._lock = threading.RLock()
        self._sizes: dict[tuple[str, str], int] = {}
        self._catalog: Catalog | None = None

    def copy(self) -> Database:
        """The same data with descriptions of its own: what is expensive is shared."""
        made = copy.copy(self)
        made.tables = {key: dataclasses.replace(table, meta=dict(table.meta)) for key, table in self.tables.items()}
        return made

    def add(self, dataset: str, script: str) -> None:
        """Make a dataset by a script of DuckDB."""
        with self._lock:
            self._root.execute(f"ATTACH ':memory:' AS \"{dataset}\"")
            self._root.execute(f'USE "{dataset}"')
            self._root.execute(script)
            self._root.execute("USE memory")
            self._refresh(dataset)

    def attach(self, dataset: str, path: str) -> None:
        """Make a dataset of a DuckDB file."""
        with self._lock:
            self._root.execute(f"ATTACH '{path}' AS \"{dataset}\" (READ_ONLY)")
            self._refresh(dataset)

    def _refresh(self, dataset: str) -> None:
        found = self._root.execute(
            "SELECT table_name, table_type FROM information_schema.tables WHERE table_catalog = ? ORDER BY 1", [dataset]
        ).fetchall()
        for name, kind in found:
            self.tables[dataset, name] = Table(dataset, name, view=kind == "VIEW")
            self._root.execute(
                f"CREATE OR REPLACE VIEW {_quoted(f'{dataset}.{name}')} AS FROM {_quoted(dataset)}.main.{_quoted(name)}"
            )
        self._catalog = None

    def wildcard(self, dataset: str, pattern: str) -> str:
        """The view that stands for `prefix_*`, with its `_TABLE_SUFFIX`."""
        prefix = pattern[:-1]
        members = sorted(name for place, name in self.tables if place == dataset and name.startswith(prefix))
        if not members:
            raise Refused(404, "notFound", f"{self.project}:{dataset}.{pattern} does not match any table.")
        parts = [
            f"SELECT *, '{name[len(prefix) :]}' AS {SUFFIX} FROM {_quoted(dataset)}.main.{_quoted(name)}"
            for name in members
        ]
        name = f"{dataset}.{pattern}"
        with self._lock:
            self._root.execute(f"CREATE OR REPLACE VIEW {_quoted(name)} AS {' UNION ALL BY NAME '.join(parts)}")
            self.tables[dataset, pattern] = Table(dataset, pattern, view=True)
            self._catalog = None
        return name

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own; settings are per connection."""
        with self._lock:
            cursor = self._root.cursor()
        for setting in DUCKDB_SETTINGS:
            cursor.execute(setting)
        return cursor

    def schema(self, dataset: str, table: str) -> list[dict[str, Any]]:
        """The columns of a table in the form of the API."""
        cursor = self.cursor()
        described = cursor.execute(f"FROM {_quoted(f'{dataset}.{table}')} LIMIT 0").description
        return [api_field(column[0], column[1]) for column in described or ()]

    def rows(self, dataset: str, table: str) -> int:
        """How many rows a table has."""
        return self.cursor().execute(f"SELECT count(*) FROM {_quoted(f'{dataset}.{table}')}").fetchone()[0]

    def catalog(self) -> Catalog:
        """All tables under their names of two parts."""
        from bmsql.backends._duckdb_file import bigquery_columns

        with self._lock:
            if self._catalog is None:
                cursor = self.cursor()
                infos = []
                for dataset, name in self.tables:
                    described = cursor.execute(f"FROM {_quoted(f'{dataset}.{name}')} LIMIT 0").description or []
                    columns: tuple[ColumnInfo, ...] = bigquery_columns([(one[0], one[1]) for one in described])
                    infos.append(TableInfo(name=f"{dataset}.{name}", columns=columns))
                self._catalog = Catalog(project=self.project, dataset="main", tables=tuple(infos))
            return self._catalog

    def prepared(self, sql: str, default: str, parameters: dict[str, Any]) -> tuple[exp.Expr, list[tuple[str, str]]]:
        """The tree over names of two parts, and the tables that it reads."""
        try:
            tree = sqlglot.parse_one(sql, read="bigquery")
        except sqlglot.errors.SqlglotError as e:
            raise Refused(400, "invalidQuery", _syntax_message(e)) from e
        if not isinstance(tree, exp.Query):
            raise Refused(400, "invalidQuery", "Only queries are played here.")
        if any(not select.expressions for select in tree.find_all(exp.Select)):
            raise Refused(400, "invalidQuery", "Syntax error: SELECT list must not be empty at [1:8]")
        for parameter in list(tree.find_all(exp.Parameter)):
            parameter.replace(_literal(parameters[parameter.name]))
        for column in list(tree.find_all(exp.Column)):
            if column.name.upper() == "_TABLE_SUFFIX":
                # sqlglot leaves pseudo-columns unresolved.
                column.set("this", exp.to_identifier(SUFFIX))
        ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
        aliases = {alias.lower() for table in tree.find_all(exp.Table) if (alias := table.alias or table.name)}
        read: list[tuple[str, str]] = []
        for table in list(tree.find_all(exp.Table)):
            if not isinstance(table.this, exp.Identifier) or (not table.db and table.name.lower() in ctes):
                continue
            if table.db and table.db.lower() in aliases and not table.catalog:
                continue  # FROM t, t.tags
            dataset, name = table.db or default, table.name
            if (dataset, name) not in self.tables and name.endswith("*"):
                self.wildcard(dataset, name)
            if (dataset, name) not in self.tables:
                place = f"{table.catalog or self.project}:{dataset}.{name}"
                raise Refused(404, "notFound", f"Not found: Table {place} was not found in location EU")
            read.append((dataset, name))
            table.set("db", None)
            table.set("catalog", None)
            if not table.args.get("alias"):
                table.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
            table.set("this", exp.to_identifier(f"{dataset}.{name}", quoted=True))
        return tree, read

    def translated(self, tree: exp.Expr, sql: str) -> str:
        """DuckDB's text for a prepared tree."""
        try:
            return to_duckdb(tree, self.catalog())
        except SqlError as e:
            raise Refused(400, "invalidQuery", _named_error(e.message, sql)) from e

    def size(self, tree: exp.Expr) -> int:
        """Bytes that BigQuery would read: the logical sizes of the columns that the query names."""
        return sum(self._size(table, column) for table, column in self._referenced(tree))

    def _referenced(self, tree: exp.Expr) -> set[tuple[str, str]]:
        # Identifiers are folded on both sides; names without a dot, or sqlglot would take them apart.
        infos = {info.name.lower().replace(".", "__"): info for info in self.catalog().tables}
        schema = MappingSchema(
            {name: {column.name: column.type for column in info.columns} for name, info in infos.items()},
            dialect="bigquery",
        )
        copied = tree.copy()
        for table in copied.find_all(exp.Table):
            table.set("this", exp.to_identifier(table.name.replace(".", "__"), quoted=True))
        qualified = qualify(copied, schema=schema, dialect="bigquery", validate_qualify_columns=False)
        found: set[tuple[str, str]] = set()
        for scope in traverse_scope(qualified):
            for column in scope.columns:
                source = scope.sources.get(column.table)
                info = infos.get(source.name.lower()) if isinstance(source, exp.Table) else None
                known = info.by_name.get(column.name.lower()) if info is not None else None
                if info is not None and known is not None:
                    found.add((info.name, known.name))
        return found

    def _size(self, table: str, column: str) -> int:
        with self._lock:
            if (table, column) in self._sizes:
                return self._sizes[table, column]
        cursor = self.cursor()
        kind = (cursor.execute(f"SELECT {_quoted(column)} FROM {_quoted(table)} LIMIT 0").description or [])[0][1]
        total = cursor.execute(f"SELECT sum({_bytes(_quoted(column), kind)}) FROM {_quoted(table)}").fetchone()
        size = int(total[0] or 0) if total else 0
        with self._lock:
            self._sizes[table, column] = size
        return size


def api_field(name: str, kind: Any, repeated: bool = False) -> dict[str, Any]:
    """A column in the form of the API."""
    mode = "REPEATED" if repeated else "NULLABLE"
    match kind.id:
        case "list" | "array":
            return api_field(name, dict(kind.children)["child"], repeated=True)
        case "struct":
            fields = [api_field(child, sub) for child, sub in kind.children]
            return {"name": name, "type": "RECORD", "mode": mode, "fields": fields}
        case "decimal":
            digits, scale = (int(str(size)) for _, size in kind.children)
            fits = scale <= 9 and digits - scale <= 29
            return {"name": name, "type": "NUMERIC" if fits else "BIGNUMERIC", "mode": mode}
    text = str(kind)
    return {"name": name, "type": SCALARS.get(text, ("INTEGER" if text == '"NULL"' else "STRING", 0))[0], "mode": mode}


def api_value(value: Any, kind: Any) -> Any:
    """A value in the form of the API."""
    if kind.id in ("list", "array"):
        child = dict(kind.children)["child"]
        return [{"v": api_value(item, child)} for item in value or ()]
    if value is None:
        return None
    if kind.id == "struct":
        return {"f": [{"v": api_value(value[name], child)} for name, child in kind.children]}
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return (
                "NaN"
                if math.isnan(value)
                else repr(value)
                if math.isfinite(value)
                else ("-" * (value < 0) + "Infinity")
            )
        case bytes():
            return base64.b64encode(value).decode()
        case dt.datetime() if value.tzinfo is not None:
            return str((value - _EPOCH) // dt.timedelta(microseconds=1))
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case decimal.Decimal():
            return f"{value:f}"
    return str(value)


def message_of(error: duckdb.Error, sql: str) -> str:
    """DuckDB's complaint in the words of BigQuery, where they are known."""
    return _named_error(str(error).splitlines()[0], sql)


def _named_error(message: str, sql: str) -> str:
    found = re.search(r"[Cc]olumn [\"'`]?(?P<name>[\w.]+)", message)
    if found is None:
        return message
    name = found["name"].strip(".").rpartition(".")[2]
    place = re.search(rf"\b{re.escape(name)}\b", sql, re.IGNORECASE)
    start = place.start() if place else 0
    line = sql.count("\n", 0, start) + 1
    column = start - (sql.rfind("\n", 0, start) + 1) + 1
    return f"Unrecognized name: {name} at [{line}:{column}]"


def _syntax_message(error: sqlglot.errors.SqlglotError) -> str:
    details = getattr(error, "errors", None) or [{}]
    line, column = details[0].get("line") or 1, details[0].get("col") or 1
    return f"Syntax error: {details[0].get('description') or 'Unexpected input'} at [{line}:{column}]"


def _literal(value: Any) -> exp.Expr:
    if isinstance(value, list):
        return exp.Array(expressions=[_literal(item) for item in value])
    return exp.Literal.string(value)


def _bytes(text: str, kind: Any) -> str:
    if kind.id in ("list", "array"):
        child = dict(kind.children)["child"]
        return f"coalesce(list_sum(list_transform({text}, lambda e: {_bytes('e', child)})), 0)"
    if kind.id == "struct":
        return " + ".join(_bytes(f"({text}).{_quoted(name)}", child) for name, child in kind.children)
    if kind.id == "decimal":
        size = "16"
    else:
        fixed = SCALARS.get(str(kind), ("", 0))[1]
        size = str(fixed) if fixed else f"2 + octet_length({text})" if kind.id == "blob" else f"2 + strlen({text})"
    return f"CASE WHEN {text} IS NULL THEN 0 ELSE {size} END"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
