"""The notes of reports, kept as data."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from bmsql.data import safe_yaml
from bmsql.types import Frozen


class Words(Frozen):
    """Notes below tables, by what they are about, and what each metric is."""

    notes: dict[str, str]
    metrics: tuple[str, ...]


@cache
def words() -> Words:
    """The shipped notes."""
    text = (files("bmsql.bench") / "data" / "report.yaml").read_text(encoding="utf-8")
    return Words.model_validate(safe_yaml(text))
