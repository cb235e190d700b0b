"""Where a load goes, by what the user writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bmsql.errors import ConfigurationError

if TYPE_CHECKING:
    from bmsql.loading._bigquery import BigQueryTarget
    from bmsql.loading._duckdb import DuckDBTarget

_DUCKDB, _BIGQUERY = "duckdb://", "bigquery://"
_FORMS = '"duckdb:///path/kb.duckdb" or "bigquery://project/dataset"'


def open_target(to: str, *, memory_mb: int) -> DuckDBTarget | BigQueryTarget:
    """The target that `to` names. Raises ConfigurationError for another text."""
    text = to.strip()
    lowered = text.lower()
    if lowered.startswith(_DUCKDB) and len(text.strip("/")) > len(_DUCKDB):
        from bmsql.loading._duckdb import DuckDBTarget

        return DuckDBTarget(target_path(text), memory_mb=memory_mb)
    if is_bigquery(text):
        from bmsql.loading._bigquery import BigQueryTarget

        return BigQueryTarget(text, memory_mb=memory_mb)
    if lowered == "embedded":
        raise ConfigurationError("The embedded knowledge base cannot be written to.", remedy=f"Write {_FORMS}.")
    raise ConfigurationError(f"{to!r} names no place to load into.", remedy=f"Write {_FORMS}.")


def is_bigquery(text: str) -> bool:
    """Whether a text names a BigQuery dataset."""
    return text.strip().lower().startswith(_BIGQUERY)


def existing_path(text: str) -> Path:
    """The file that `duckdb:///path` names. Raises ConfigurationError for another text, or where there is none."""
    if not text.strip().lower().startswith(_DUCKDB):
        raise ConfigurationError(f"{text!r} names no knowledge base of files.", remedy=f"Write {_FORMS}.")
    path = target_path(text.strip())
    if not path.is_file():
        raise ConfigurationError(f"There is no file {path}.", remedy="Check the path.")
    return path


def target_path(text: str) -> Path:
    """The file that `duckdb:///path` names, which need not exist.

    Three slashes and a path that cannot be meant as absolute (its folder is missing, or is the root of the
    file system) name a file in the current directory, as an opening of it will find it there.
    """
    rest = text[len(_DUCKDB) :]
    relative = Path(rest.lstrip("/"))
    path = relative if not rest.startswith("/") or relative.drive else Path("/", relative)
    if path.is_absolute() and not os.path.lexists(path):
        folder = path.parent
        if folder == Path(folder.anchor) or not folder.is_dir():
            path = relative if (Path.cwd() / relative).parent.is_dir() else path
    path = path.absolute()
    if path.is_dir() or not path.parent.is_dir():
        what = "is a directory" if path.is_dir() else f"is in a directory that does not exist: {path.parent}"
        raise ConfigurationError(f"{path} {what}.", remedy="Give the path of a file in an existing directory.")
    return path
