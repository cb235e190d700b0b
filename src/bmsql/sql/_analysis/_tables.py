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
    info = catalog.find(name, dataset, project) or _folded(name, dataset, project, context)
    if info is None:
        _unknown_table(table, written, (start, end), context)
        return None
    # A shard stands for itself, although the catalogue has its family alone.
    own = name if name in shard_names(info) else info.name.rpartition(".")[2]
    full = f"`{catalog.qualified(info.name).rpartition('.')[0]}.{own}`"
    context.tables.setdefault(info.name, None)
    if written != full:
        if table.args.get("alias") is None and table.name.lower() in in_use:
            full = f"{full} AS {own}"
        context.edit(Edit(start, end, full), "table-name", "Wrote the table's name in full.", written)
    return info


def shard_names(info: TableInfo) -> tuple[str, ...]:
    """The tables that a family of date-sharded ones stands for, without their dataset."""
    prefix = info.name.rpartition(".")[2][:-1]
    return tuple(prefix + shard for shard in info.shards)


def _folded(name: str, dataset: str, project: str, context: Context) -> TableInfo | None:
    """The only table with that name in another case."""
    catalog = context.catalog
    found = [
        known
        for known in catalog.tables
        if known.name.lower().rpartition(".")[2] == name.lower()
        and catalog.find(known.name.rpartition(".")[2], dataset, project) is known
    ]
    return found[0] if len(found) == 1 else None


def _unknown_table(table: exp.Table, written: str, place: tuple[int, int], context: Context) -> None:
    """Record why a table cannot be read, unless the policy lets it pass unchecked."""
    catalog, policy = context.catalog, context.policy
    project, dataset, name = table.catalog, table.db, table.name
    elsewhere = bool(dataset) and not _same_place(project, dataset, catalog.project, catalog.dataset)
    if elsewhere and f"{project}.{dataset}" in policy.datasets:
        return
    if name.endswith("*"):
        context.problem(
            "wildcard-table",
            f"The catalogue has no wildcard table {written.strip('`')}.",
            *place,
            _families_hint(context),
        )
        return
    known = {catalog.qualified(info.name).rpartition(".")[0].lower() for info in catalog.tables}
    if elsewhere and f"{project or catalog.project}.{dataset}".lower() not in known:
        found = nearest_table(name, context)
        context.problem(
            "forbidden-table",
            f"{written} is outside the dataset {catalog.project}.{catalog.dataset}.",
            *place,
            f"Did you mean `{catalog.qualified(found)}`?" if found else "Only tables of that dataset may be read.",
        )
        return
    _unknown(name, written, *place, context)


def _families_hint(context: Context) -> str:
    families = [context.catalog.qualified(info.name) for info in context.catalog.tables if info.name.endswith("*")]
    if not families:
        return "Name one table, or UNION ALL several."
    return f"There are: {', '.join(f'`{name}`' for name in families[:10])}."


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
        star = following.text == "*" and table.name.endswith("*")
        if not star and following.text not in (".", "-") and following.kind not in ("word", "number", "quoted"):
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
