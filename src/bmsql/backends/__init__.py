"""Where queries run: a `Backend` answers for one set of tables.

DuckDB files and the embedded knowledge base ship. Importing this package loads no database driver:
that happens when a backend is opened.
"""

from bmsql.backends._base import Backend, DryRun
from bmsql.backends._cache import cache_directory
from bmsql.backends._duckdb import DuckDBBackend
from bmsql.backends._duckdb_file import KEY_SOURCES, MANIFEST, ROW_SOURCES, quoted
from bmsql.backends._embedded import EmbeddedFile, ensure_embedded, open_embedded
from bmsql.backends._lock import file_lock
from bmsql.backends._open import open_backend
from bmsql.backends._values import bigquery_type

__all__ = [
    "KEY_SOURCES",
    "MANIFEST",
    "ROW_SOURCES",
    "Backend",
    "DryRun",
    "DuckDBBackend",
    "EmbeddedFile",
    "bigquery_type",
    "cache_directory",
    "ensure_embedded",
    "file_lock",
    "open_backend",
    "open_embedded",
    "quoted",
]
