"""What slots can be filled with: the values of columns that occur together, with how often they do."""

from __future__ import annotations

import ast
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from bmsql.backends import Backend
from bmsql.bench.factory._run import GoldRunner
from bmsql.semantic import Recipe

# Values of a slot that are looked at; where there are more, a draw that is the same each time.
_MOST = 20_000
Combination = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Column:
    """A column, or several that name one thing together, and how its text falls apart into values."""

    sql: tuple[str, ...]
    separator: str = ""
    suffix: str = ""
    none: str = ""

    @classmethod
    def of(cls, sql: tuple[str, ...], recipe: Recipe) -> Column:
        """A column that an entity is matched in."""
        if recipe.how not in ("item", "listed"):
            return cls(sql)
        return cls(sql, recipe.separator, recipe.suffix, recipe.none)

    def items(self, text: str) -> list[str]:
        """The values in one cell: itself, or the items of a list without their suffix."""
        if not self.separator:
            return [text]
        parts = text.split(self.separator)
        items = [(part.partition(self.suffix)[0] if self.suffix else part).strip() for part in parts]
        return [item for item in dict.fromkeys(items) if item and item != self.none]


@dataclass
class Pools:
    """Reads pools from the knowledge base, each once."""

    runner: GoldRunner
    _known: dict[tuple[str, tuple[Column, ...], str], list[tuple[Combination, int]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def backend(self) -> Backend:
        """Where the values come from."""
        return self.runner.backend

    def pool(self, source: str, columns: Sequence[Column], where: str = "") -> list[tuple[Combination, int]]:
        """Combinations of values with the rows that hold them, most frequent first.

        source: the table under its alias, as in FROM. Each element of a combination holds the texts of one
        column: one, or the item and the texts beside it. where: a further condition.
        """
        key = (source, tuple(columns), where)
        with self._lock:
            if key not in self._known:
                self._known[key] = self._read(source, columns, where)
            return self._known[key]

    def _read(self, source: str, columns: Sequence[Column], where: str) -> list[tuple[Combination, int]]:
        flat = [sql for column in columns for sql in column.sql]
        conditions = [f"{column.sql[0]} IS NOT NULL" for column in columns] + ([where] if where else [])
        names = [f"v{place}" for place in range(len(flat))]
        selected = ", ".join(f"{sql} AS {name}" for sql, name in zip(flat, names, strict=True))
        # A hash orders what is equally frequent, so that a cut does not keep the same first letters.
        shuffled = ", ".join(f"MD5(COALESCE(CAST({sql} AS STRING), ''))" for sql in flat)
        sql = (
            f"SELECT {selected}, COUNT(*) AS n FROM {source} WHERE {' AND '.join(conditions)} "  # noqa: S608
            f"GROUP BY {', '.join(flat)} ORDER BY n DESC, {shuffled} LIMIT {_MOST}"
        )
        counted: Counter[Combination] = Counter()
        for *cells, n in self.runner.rows(sql, most=_MOST):
            for combination in _combinations(cells, columns):
                counted[combination] += int(n)
        return sorted(counted.items(), key=lambda item: (-item[1], item[0]))


def _combinations(cells: Sequence[object], columns: Sequence[Column]) -> list[Combination]:
    """The combinations in one row: a list in a cell gives one for each of its items."""
    found: list[Combination] = [()]
    start = 0
    for column in columns:
        texts = ["" if cell is None else str(cell) for cell in cells[start : start + len(column.sql)]]
        start += len(column.sql)
        items = [(item, *texts[1:]) for item in column.items(texts[0])]
        found = [(*before, item) for before in found for item in items]
    return found


def names_of(text: str) -> list[str]:
    """The names in one cell: separated by commas, or a list as Python writes it."""
    if text.startswith("["):
        try:
            found = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return []
        return [str(item) for item in found]
    return [part.strip() for part in text.split(", ") if part.strip()]
