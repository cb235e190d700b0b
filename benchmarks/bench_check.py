"""What the checks cost: parse, guard, check, conventions and translation of each gold query, in milliseconds.

The plan of the question is made before the clock starts; nothing is run. The clock is the processor's time of this
thread: nothing here waits, and a busy machine then changes little.

    python benchmarks/bench_check.py [--repeat N] [--limit-ms MS]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import sqlglot
from sqlglot import exp

from bmsql import Agent
from bmsql.conventions import fit_to_plan
from bmsql.graph import Dependencies
from bmsql.sql import format_sql, parse, validate
from bmsql.sql.duckdb import to_duckdb
from bmsql.types import Plan, ValidatedQuery

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.mutations import Gold, load_gold

T = TypeVar("T")
STEPS = ("validate the draft", "hold it against the plan", "conventions", "validate the refined", "translate")


class Clock:
    """Milliseconds by step, one figure for each query."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = defaultdict(list)

    def timed(self, step: str, work: Callable[[], T]) -> T:
        """The result of `work`, its time noted under `step`."""
        started = time.thread_time()
        result = work()
        self.spent[step].append((time.thread_time() - started) * 1000)
        return result

    def median(self, step: str) -> float:
        """The median of a step."""
        return statistics.median(self.spent[step])


def way(gold: Gold, plan: Plan, deps: Dependencies, clock: Clock) -> None:
    """One query on its way to DuckDB, each step by the clock; nothing is taken from a cache."""
    catalog = deps.backend.catalog()

    def fitted(sql: str) -> exp.Query:
        return fit_to_plan(parse(sql), plan, deps.model, deps.rules, gold.question).tree

    query = clock.timed(STEPS[0], lambda: validate(gold.sql, catalog))
    if not isinstance(query, ValidatedQuery):
        raise TypeError(f"a gold query is rejected: {query.problems[0].message}")
    tree = clock.timed(STEPS[1], lambda: fitted(query.sql))
    applied = clock.timed(STEPS[2], lambda: deps.rules.apply_plan(tree, deps.model, plan))
    refined = clock.timed(STEPS[3], lambda: validate(format_sql(applied.tree), catalog))
    clock.timed(STEPS[4], lambda: to_duckdb(refined.sql, catalog))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeat", type=int, default=1, help="times that each query is taken")
    parser.add_argument("--limit-ms", type=float, default=0.0, help="exit with 1 where the median is above this")
    options = parser.parse_args()
    agent = Agent()
    deps, clock, whole = agent.dependencies, Clock(), []
    golds = load_gold()
    plans = {gold.id: agent.plan(gold.question) for gold in golds}
    for gold in golds * options.repeat:
        started = time.thread_time()
        way(gold, plans[gold.id], deps, clock)
        whole.append((time.thread_time() - started) * 1000)
    print(f"sqlglot {sqlglot.__version__}, {'compiled' if find_spec('sqlglot.parser__mypyc') else 'not compiled'}")
    for step in STEPS:
        print(f"{step:<28}{clock.median(step):>8.2f} ms")
    total, tail = statistics.median(whole), statistics.quantiles(whole, n=20)[-1]
    print(f"{'together':<28}{total:>8.2f} ms median, {tail:.2f} ms for the slowest in 20, of {len(whole)} queries")
    return int(bool(options.limit_ms) and total > options.limit_ms)


if __name__ == "__main__":
    sys.exit(main())
