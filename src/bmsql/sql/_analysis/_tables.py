"""Which table of the catalogue a name means, and how it is written in full."""

from __future__ import annotations

from rapidfuzz import fuzz, process
from sqlglot import exp

from bmsql.sql._analysis._context import Context
from bmsql.sql._source import Edit
from bmsql.sql._tree import span
from bmsql.types import TableInfo


def resolve_table(table: exp.Table, context: Context, in_use: set[str]) -> TableInfo | None:
    """The table that a FROM item names; a repair is recorded when the name is not written in full.

    `in_use`: names that qualify columns in the query; the table keeps its own name by an alias when
    it is among them. None when the catalogue does not have it (a problem is recorded) or when the
    policy lets it pass although its columns are not known.
    """
    catalog = context.catalog
    start, end = path_span(table, context)
    written = context.source.text[start:end]
    if not isinstance(table.this, exp.Identifier):
        return None
    project, dataset, name = table.catalog, table.db, table.name
    if name.upper().startswith("INFORMATION_SCHEMA") or dataset.upper() == "INFORMATION_SCHEMA":
        if not context.policy.information_schema:
            context.problem(
                "forbidden-table", "INFORMATION_SCHEMA may not be read.", start, end, "Read the tables themselves."
            )
        return None
    if name.endswith("*"):
        context.problem(
            "wildcard-table", "Wildcard tables are not supported.", start, end, "Name one table, or UNION ALL several."
        )
        return None
    if dataset and not _same_place(project, dataset, catalog.project, catalog.dataset):
        if f"{project}.{dataset}" in context.policy.datasets:
            return None
        found = nearest_table(name, context)
        context.problem(
            "forbidden-table",
            f"{written} is outside the dataset {catalog.project}.{catalog.dataset}.",
            start,
            end,
            f"Did you mean `{catalog.qualified(found)}`?" if found else "Only tables of that dataset may be read.",
        )
        return None
    info = catalog.by_name.get(name)
    if info is None:
        folded = [known for known in catalog.tables if known.name.lower() == name.lower()]
        if len(folded) != 1:
            _unknown(name, written, start, end, context)
            return None
        info = folded[0]
    full = f"`{catalog.qualified(info.name)}`"
    context.tables.setdefault(info.name, None)
    if written != full:
        if table.args.get("alias") is None and table.name.lower() in in_use:
            full = f"{full} AS {info.name}"
        context.edit(Edit(start, end, full), "table-name", "Wrote the table's name in full.", written)
    return info


def path_span(table: exp.Table, context: Context) -> tuple[int, int]:
    """Offsets of a table's path as written, quotes and dashes included."""
    tokens, source = context.source.tokens, context.source
    start, _ = span(table.this if not table.args.get("catalog") else table.args["catalog"], source)
    for part in table.parts:
        at = part.meta.get("start")
        start = min(start, at) if at is not None else start
    index = source.by_start.get(start)
    if index is None:
        return span(table, source)
    end = index
    while end + 1 < len(tokens) and tokens[end + 1].start == tokens[end].end:
        following = tokens[end + 1]
        if following.text not in (".", "-") and following.kind not in ("word", "number", "quoted"):
            break
        end += 1
    return start, tokens[end].end


def nearest_table(name: str, context: Context) -> str:
    """The catalogue's table whose name is most like `name`, or ""."""
    names = list(context.catalog.by_name)
    found = process.extractOne(name, names, scorer=fuzz.WRatio, processor=str.lower, score_cutoff=60)
    return found[0] if found else ""


def _same_place(project: str, dataset: str, wanted_project: str, wanted_dataset: str) -> bool:
    if dataset.lower() != wanted_dataset.lower():
        return False
    return not project or project.lower() == wanted_project.lower()


def _unknown(name: str, written: str, start: int, end: int, context: Context) -> None:
    catalog = context.catalog
    found = nearest_table(name, context)
    hint = f"Did you mean `{catalog.qualified(found)}`?" if found else f"The tables are: {', '.join(catalog.by_name)}."
    context.problem("unknown-table", f"There is no table {written.strip('`')}.", start, end, hint)
