"""Date-sharded tables: `events_20240101`, `events_20240102`, ... are one table, `events_*`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from bmsql.types import ColumnInfo

SUFFIX = ColumnInfo(name="_TABLE_SUFFIX", type="STRING", description="What the * of the table's name stands for.")
_NAMED = 3
# A day, month or year at the end, as BigQuery's own tools write it.
_DATED = re.compile(
    r"(?P<prefix>.*?\D)(?P<suffix>(?:19|20)\d\d(?:(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])?)?)", re.DOTALL
)


class Family(NamedTuple):
    """A table to look at: `name` as catalogued, `sample` the table whose columns it has.

    also: further tables that the `*` of its name matches in a query, although they are no shards.
    """

    name: str
    sample: str
    shards: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def warning(self) -> str:
        """What a query over the whole family must beware of."""
        if not self.also:
            return ""
        more = ", ..." if len(self.also) > _NAMED else ""
        return (
            f"{self.name} matches {', '.join(self.also[:_NAMED])}{more} too: filter on LENGTH(_TABLE_SUFFIX) = "
            f"{len(self.shards[0])} to leave them out."
        )


def fold(names: Iterable[str]) -> list[Family]:
    """Tables by name; two or more that differ in the date at their end alone are one family.

    Its columns are those of the latest shard. Suffixes of different length are different families'.
    """
    names = sorted(names)
    groups: dict[tuple[str, int], list[str]] = defaultdict(list)
    single: list[str] = []
    for name in names:
        dated = _DATED.fullmatch(name)
        if dated is None:
            single.append(name)
        else:
            groups[dated["prefix"], len(dated["suffix"])].append(dated["suffix"])
    families = [Family(name, name) for name in single]
    prefixes = [prefix for (prefix, _), suffixes in groups.items() if len(suffixes) > 1]
    for (prefix, _), suffixes in groups.items():
        ordered = sorted(suffixes)
        # Where two lengths share a prefix, `prefix_*` would mean both.
        if len(ordered) == 1 or prefixes.count(prefix) > 1:
            families += [Family(prefix + suffix, prefix + suffix) for suffix in ordered]
        else:
            others = (name for name in names if name.startswith(prefix) and name[len(prefix) :] not in suffixes)
            families.append(Family(f"{prefix}*", prefix + ordered[-1], tuple(ordered), tuple(others)))
    return sorted(families)
