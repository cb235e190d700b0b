"""The paper's figures, kept as data with their source."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from bmsql.data import safe_yaml
from bmsql.types import Frozen


class PublishedScore(Frozen):
    """One row of the paper's tables, in per cent; None where it reports none."""

    system: str
    model: str
    ex: float
    jac: float
    rqr: float | None = None
    sr: float | None = None
    ser: float | None = None
    tokens: float | None = None


class Published(Frozen):
    """The paper's figures and what to know about them."""

    source: str
    url: str
    sample: int
    note: str
    systems: tuple[PublishedScore, ...]
    larger_schema: str


@cache
def published() -> Published:
    """The shipped figures."""
    text = (files("bmsql.bench") / "data" / "published.yaml").read_text(encoding="utf-8")
    return Published.model_validate(safe_yaml(text))
