"""Reading the YAML tables of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bmsql.data import safe_yaml


def read_yaml(path: Path) -> Any:
    """The data of a YAML file, by the fast loader: the tables are large, and read before the first test runs."""
    return safe_yaml(path.read_text(encoding="utf-8"))
