"""Where queries run: a `Backend` answers for one set of tables.

DuckDB files, the embedded knowledge base and BigQuery ship. Importing this package loads no database
driver: that happens when a backend is opened.
"""

from bmsql.backends._base import Backend, DryRun, Metered, Spent
from bmsql.backends._cache import cache_directory
from bmsql.backends._duckdb import DuckDBBackend
from bmsql.backends._duckdb_file import KEY_SOURCES, MANIFEST, ROW_SOURCES, quoted
from bmsql.backends._embedded import EmbeddedFile, ensure_embedded, open_embedded
from bmsql.backends._labels import job_labels
from bmsql.backends._lock import file_lock
from bmsql.backends._open import open_backend
from bmsql.backends._values import bigquery_type
from bmsql.backends.bigquery import BigQueryBackend

__all__ = [
    "KEY_SOURCES",
    "MANIFEST",
    "ROW_SOURCES",
    "Backend",
    "BigQueryBackend",
    "DryRun",
    "DuckDBBackend",
    "EmbeddedFile",
    "Metered",
    "Spent",
    "bigquery_type",
    "cache_directory",
    "ensure_embedded",
    "file_lock",
    "job_labels",
    "open_backend",
    "open_embedded",
    "quoted",
]
