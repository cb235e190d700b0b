"""Where files that can be made again are kept."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "BMSQL_CACHE_DIR"


def cache_directory() -> Path:
    """The directory that BMSQL_CACHE_DIR names, else the user's cache directory; it may not exist yet."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("bmsql", appauthor=False)
