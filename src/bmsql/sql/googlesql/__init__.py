"""A second opinion on a query: Google's own analyser of GoogleSQL, offline.

It comes with the extra `bmsql[googlesql]`, a third party's port to WebAssembly. It knows a superset of
BigQuery in places, and not what the engine itself refuses (outer joins without an equality, wrong regular expressions).
"""

from bmsql.sql.googlesql._analyser import Analyser

__all__ = ["Analyser"]
