"""What follows from a number by its unit: an odds ratio from its logarithm, the other allele's frequency."""

from __future__ import annotations

import math
from collections.abc import Iterator

from bmsql.semantic import SemanticModel
from bmsql.types import QueryResult

PROPORTION, LOG_ODDS, ODDS, PROBABILITY, PERCENT, BASE_PAIR = (
    "proportion", "log odds ratio", "odds ratio", "probability", "percent", "base pair",
)  # fmt: skip
UNKNOWN = "?"
"""Of a column that the model does not name."""
RULE = "rule"
"""Of a number of the query or of a rule."""
EXP, LOG10 = "odds ratio by exp", "-log10"
"""Of what was computed here: said only where the text names an odds ratio or a logarithm."""


class Units:
    """The units of a result's columns, by the semantic model."""

    def __init__(self, model: SemanticModel | None, tables: tuple[str, ...]) -> None:
        self._model, self._tables = model, tables

    def of(self, result: QueryResult) -> list[str]:
        """The unit of each column: empty where it has none, `UNKNOWN` for a column that the model does not name."""
        return [self._unit(column.name) for column in result.columns]

    def _unit(self, name: str) -> str:
        if self._model is None:
            return UNKNOWN
        units = (self._model.unit_of(base, self._tables) for base in _bases(name))
        return next((unit for unit in units if unit is not None), UNKNOWN)

    def derived(self, cell: object, unit: str) -> Iterator[tuple[float, str]]:
        """What may be said in place of a number, with its unit."""
        if isinstance(cell, bool) or not isinstance(cell, int | float) or not math.isfinite(cell):
            return
        inside = isinstance(cell, float) and 0 < cell < 1
        if unit == UNKNOWN and not isinstance(cell, float):
            return  # a count, an identifier or a place
        if unit == PROPORTION or (unit == UNKNOWN and inside):
            yield from ((1 - cell, PROPORTION), (100 * cell, PERCENT), (100 * (1 - cell), PERCENT))
        if (unit.startswith(LOG_ODDS) or unit == UNKNOWN) and -20 < cell < 20:
            odds = math.exp(cell)
            yield from ((odds, EXP), (1 / odds, EXP))
            yield from ((100 * abs(odds - 1), PERCENT), (100 * abs(1 / odds - 1), PERCENT))
        if unit == ODDS and cell > 0:
            yield from ((1 / cell, EXP), (100 * abs(cell - 1), PERCENT), (math.log(cell), LOG_ODDS))
        if unit in (PROBABILITY, UNKNOWN) and 0 < cell < 1:
            yield (-math.log10(cell), LOG10)


def _bases(name: str) -> Iterator[str]:
    """A column's name, and what may be its own name where the query has lengthened it, as in `p_pd` or `avg_freq`."""
    yield name
    parts = name.split("_")
    for size in range(len(parts) - 1, 0, -1):
        yield from ("_".join(parts[:size]), "_".join(parts[-size:]))
