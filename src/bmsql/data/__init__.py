"""The data that ships inside the package: the facts tables, and names with their synonyms; and how YAML is read.

Nothing here imports more than the standard library, so that every part may read it at start-up.
"""

from bmsql.data._aliases import aliases
from bmsql.data._facts import FactsColumn, FactsManifest, FactsTable, facts_checksum, facts_manifest, read_facts_file
from bmsql.data._yaml import safe_yaml

__all__ = [
    "FactsColumn",
    "FactsManifest",
    "FactsTable",
    "aliases",
    "facts_checksum",
    "facts_manifest",
    "read_facts_file",
    "safe_yaml",
]
