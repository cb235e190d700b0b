"""Backends by what a user writes."""

from __future__ import annotations

import os
from pathlib import Path

from bmsql.backends._base import Backend
from bmsql.backends._duckdb import DuckDBBackend
from bmsql.backends._embedded import open_embedded
from bmsql.backends.bigquery import BigQueryBackend
from bmsql.errors import ConfigurationError
from bmsql.types import Limits

_FORMS = '"embedded", "duckdb:///absolute/path.duckdb", "duckdb://relative/path.duckdb" or "bigquery://project/dataset"'
_DUCKDB = "duckdb://"


def open_backend(spec: str | Backend | None = None, *, limits: Limits | None = None) -> Backend:
    """The backend that `spec` names; a backend itself is returned as it is.

    None or `"embedded"`: the embedded knowledge base. `"duckdb:///path"`: a DuckDB file by its
    absolute path; where there is none, but one by the path without its first slash, that. With two
    slashes the path is relative to the current directory. `"bigquery://project/dataset?location=EU"`: a
    dataset of BigQuery, with the parameters of `bmsql.backends.bigquery.PARAMETERS`.

    Raises ConfigurationError for another text, CredentialsError, BackendUnavailableError or
    KnowledgeBaseError when the backend cannot be opened.
    """
    if spec is None:
        return open_embedded(limits=limits)
    if not isinstance(spec, str):
        if not isinstance(spec, Backend):
            raise ConfigurationError(
                f"{type(spec).__name__} is no backend: it lacks methods of bmsql.backends.Backend.",
                remedy=f"Write {_FORMS}.",
            )
        return spec
    text = spec.strip()
    scheme = text.partition("://")[0].lower()
    if text.lower() == "embedded":
        return open_embedded(limits=limits)
    if scheme == "duckdb" and len(text) > len(_DUCKDB):
        return DuckDBBackend(_duckdb_path(text[len(_DUCKDB) :]), limits=limits)
    if scheme == "bigquery" and "://" in text:
        return BigQueryBackend.from_url(f"{scheme}{text[len(scheme) :]}", limits=limits)
    raise ConfigurationError(f"{spec!r} names no backend.", remedy=f"Write {_FORMS}.")


def _duckdb_path(text: str) -> Path:
    if not text.startswith("/"):
        return Path(text)
    relative = Path(text.lstrip("/"))
    absolute = relative if relative.drive else Path("/", relative)
    # Tools that follow SQLAlchemy read three slashes as a relative path.
    if not os.path.lexists(absolute) and relative.exists():
        return relative
    return absolute
