"""The `bmsql` command."""

from bmsql.cli._main import main, run

__all__ = ["main", "run"]
