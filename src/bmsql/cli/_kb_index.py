"""`bmsql kb index`: the index of values of a knowledge base, and what building it costs."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bmsql.cli._console import Text, console, show_table, write_json
from bmsql.cli._main import ANSWERED
from bmsql.cli._table import rows_table
from bmsql.errors import ConfigurationError
from bmsql.types import money_text, size_text

if TYPE_CHECKING:
    from bmsql.backends import Backend
    from bmsql.linking import IndexCost, ValueIndex
    from bmsql.semantic import SemanticModel


def build_index(
    backend: str | None,
    semantic_model: str | None,
    names: Path | None,
    *,
    allowed: int | None,
    ask: bool,
    as_json: bool,
) -> int:
    """Show the cost, ask where there is one, build what is missing or changed, and say where it is.

    allowed: bytes that may be read, any number if None; ask: whether to ask before any are.
    """
    from bmsql.agent import fitted, open_model, open_named_backend, read_settings
    from bmsql.backends import cache_directory
    from bmsql.linking import ValueIndex

    settings = read_settings(backend=backend, semantic_model=semantic_model, names=names)
    opened = open_named_backend(settings)
    try:
        model = fitted(open_model(settings), opened.catalog())
        folder = cache_directory()
        cost = ValueIndex.cost(opened, model, folder, names=settings.names)
        if not as_json:
            _show_cost(opened, cost)
        if cost.bytes and ask and not _agreed(cost.bytes):
            raise ConfigurationError(
                f"The index of {opened.name} was not built: it was not agreed to.",
                remedy="Run it with --yes, or with --max-bytes.",
            )
        started = time.perf_counter()
        # No more than what was shown.
        index = _built(opened, model, folder, settings.names, cost.bytes if allowed is None else allowed)
        seconds = time.perf_counter() - started
        path = ValueIndex.path_in(folder, opened.name, model, names=settings.names)
    finally:
        opened.close()
    if as_json:
        write_json(_document(opened.name, cost, index, path, seconds))
        return ANSWERED
    to = console()
    to.print(Text(f"Index: {path} ({size_text(index.size)}, {seconds:.1f} s)"))
    if index.truncated:
        to.print(Text(f"Only a part was read of: {', '.join(index.truncated)}"))
    return ANSWERED


def _built(backend: Backend, model: SemanticModel, folder: Path, names: Any, allowed: int | None) -> ValueIndex:
    from bmsql.linking import ValueIndex

    try:
        return ValueIndex.load_or_build(backend, model, folder, names=names, max_bytes=allowed)
    except OSError as e:
        raise ConfigurationError(
            f"The index cannot be written to {folder}: {e}.",
            remedy="Make the directory writable, or name another one in BMSQL_CACHE_DIR.",
        ) from e


def _show_cost(backend: Backend, cost: IndexCost) -> None:
    to = console()
    to.print(Text(f"Knowledge base: {backend.name}", style="bold"))
    if cost.unchanged:
        to.print(Text(f"Unchanged, not read again: {', '.join(cost.unchanged)}"))
    if not cost.tables:
        return
    rows = [
        (each.table, ", ".join(each.columns), "" if each.bytes is None else size_text(each.bytes))
        for each in cost.tables
    ]
    show_table(to, rows_table(to, ("table", "columns to read", "reads"), rows)[0])
    if cost.bytes is not None:
        price = "" if cost.cost is None else f", about {money_text(cost.cost)}"
        to.print(Text(f"Reads {size_text(cost.bytes)} in all{price}."))


def _agreed(size: int) -> bool:
    """Whether the user says yes; where nobody can be asked, no."""
    if not sys.stdin.isatty():
        return False
    import typer

    return typer.confirm(f"Read {size_text(size)} and build the index?", err=True)


def _document(name: str, cost: IndexCost, index: ValueIndex, path: Path, seconds: float) -> dict[str, Any]:
    return {
        "name": name,
        "file": str(path),
        "bytes": index.size,
        "seconds": round(seconds, 3),
        "truncated": list(index.truncated),
        "tables": index.tables,
        "read": {
            "bytes": cost.bytes,
            "cost": cost.cost,
            "tables": [
                {"name": table.table, "columns": list(table.columns), "bytes": table.bytes} for table in cost.tables
            ],
            "unchanged": list(cost.unchanged),
        },
    }
