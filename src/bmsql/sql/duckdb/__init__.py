"""BigQuery SQL as DuckDB SQL that means the same, or an error that says why not.

    to_duckdb("SELECT COUNTIF(p < 5e-8) FROM `my-project.gwas.hits`", catalog)

Every construct and function that may appear is listed, with the DuckDB expression that was measured
to agree with BigQuery; anything else raises `UnsupportedSqlError`. Run `DUCKDB_SETTINGS` on the
connection first: without them DuckDB divides by zero in silence.
"""

from __future__ import annotations

from bmsql.sql.duckdb._translate import DUCKDB_SETTINGS, Translator, to_duckdb

__all__ = ["DUCKDB_SETTINGS", "Translator", "to_duckdb"]
