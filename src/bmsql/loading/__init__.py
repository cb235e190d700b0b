"""Knowledge bases from files: loading, fetching the published tables, and synthetic rows for measuring.

A load is checked, atomic and resumable; what a knowledge base holds is recorded inside it.
"""

from bmsql.loading._describe import Contents, describe
from bmsql.loading._hub import pull
from bmsql.loading._load import load
from bmsql.loading._manifest import read_records
from bmsql.loading._report import FileRecord, LoadProgress, LoadReport, OnProgress, TableRecord, TableReport
from bmsql.loading._synth import synthesize

__all__ = [
    "Contents",
    "FileRecord",
    "LoadProgress",
    "LoadReport",
    "OnProgress",
    "TableRecord",
    "TableReport",
    "describe",
    "load",
    "pull",
    "read_records",
    "synthesize",
]
