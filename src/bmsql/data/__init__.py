"""The data that ships inside the package: the facts tables, and names with their synonyms.

Nothing here needs more than the standard library, so that every part may read it at start-up.
"""

from bmsql.data._aliases import aliases
from bmsql.data._facts import FactsColumn, FactsManifest, FactsTable, facts_checksum, facts_manifest, read_facts_file

__all__ = [
    "FactsColumn",
    "FactsManifest",
    "FactsTable",
    "aliases",
    "facts_checksum",
    "facts_manifest",
    "read_facts_file",
]
