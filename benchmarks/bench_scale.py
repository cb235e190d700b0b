"""How queries behave as tables grow: synthetic association rows on top of the facts, in DuckDB.

python benchmarks/bench_scale.py [--rows N ...] [--repeat N] [--memory-mb N] [--folder PATH]

Both fetch the same rows, with the same memory and threads; DuckDB alone is spared the time limit, the conversion of
values and the look whether it is one SELECT. The backend remembers what it has translated and parsed, and DuckDB alone
parses each time: what a text costs once is a figure of its own.

Each size is made and measured in processes of its own, so that peak memory is that of one size. Give several
sizes to see growth: --rows 2000000 --rows 20000000. The files are removed afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bmsql.types import Limits

if TYPE_CHECKING:
    import duckdb

QUESTIONS = {
    "one gene": "Which SNPs near SNCA are associated with Parkinson's disease?",
    "one SNP": "What is the p-value of rs429358 in the Alzheimer's disease GWAS?",
    "chromosome count": "How many SNPs on chromosome 17 are in the Parkinson's disease GWAS?",
    "join": "Which approved drugs target genes near genome-wide significant SNPs for Parkinson's disease?",
}
# Asked by so many callers at once too.
CONCURRENT, CALLERS = "one SNP", 8
Figures = dict[str, float]


@dataclass(frozen=True)
class Setting:
    """What one size is measured with: its file, the queries by name in BigQuery SQL, how often, memory."""

    file: str
    dataset: str
    queries: dict[str, str]
    repeat: int
    memory_mb: int

    @property
    def limits(self) -> Limits:
        """What a query may use."""
        return Limits(memory_mb=self.memory_mb, seconds=600)


def make(setting: Setting, rows: int) -> Figures:
    """Synthesise the knowledge base."""
    from bmsql.loading import synthesize

    report = synthesize(rows, f"duckdb://{setting.file}", memory_mb=setting.memory_mb)
    return {
        "make: seconds": report.seconds,
        "make: file, MB": Path(setting.file).stat().st_size / 1e6,
        "make: peak memory, MB": peak_mb(),
    }


def queries(setting: Setting, rows: int) -> Figures:
    """Time each query through the backend and by DuckDB alone, in turns; the translated SQL is the same."""
    from bmsql.backends import DuckDBBackend
    from bmsql.sql import validate
    from bmsql.sql.duckdb import to_duckdb
    from bmsql.types import ValidatedQuery

    figures: Figures = {}
    with DuckDBBackend(setting.file, dataset=setting.dataset, limits=setting.limits) as backend:
        catalog = backend.catalog()
        checked = {}
        for name, sql in setting.queries.items():
            query = validate(sql, catalog)
            if not isinstance(query, ValidatedQuery):
                raise SystemExit(f"{name}: {query.problems}")
            checked[name] = query
            backend.execute(query, setting.limits)
        figures["queries: peak memory, MB"] = peak_mb()
        with plain_duckdb(setting) as plain:
            for name, query in checked.items():
                translated = to_duckdb(query.sql, catalog)

                def ours(query: ValidatedQuery = query) -> object:
                    return backend.execute(query, setting.limits).rows

                def theirs(sql: str = translated) -> object:
                    return plain().execute(sql).fetchall()

                def once(sql: str = query.sql, translated: str = translated) -> object:
                    return to_duckdb(sql, catalog), plain().extract_statements(translated)

                figures |= compared(name, in_turns(ours, theirs, setting.repeat))
                figures[f"{name}: a new text, once, ms"] = 1000 * min(seconds(once) for _ in range(5))
                if name == CONCURRENT:
                    with ThreadPoolExecutor(CALLERS) as pool:
                        together = in_turns(all_at_once(pool, ours), all_at_once(pool, theirs), setting.repeat)
                    figures |= compared(f"{name}, {CALLERS} callers", together)
    return figures


@contextmanager
def plain_duckdb(setting: Setting) -> Iterator[Callable[[], duckdb.DuckDBPyConnection]]:
    """DuckDB alone over the same file: yields what gives a thread its connection."""
    import duckdb

    from bmsql.sql.duckdb import DUCKDB_SETTINGS

    # By another name, as one process may open a file by one name once.
    other = Path(setting.file).with_suffix(".plain.duckdb")
    os.link(setting.file, other)
    with duckdb.connect(
        str(other), read_only=True, config={"memory_limit": f"{setting.memory_mb}MiB", "threads": threads()}
    ) as connection:
        own = threading.local()

        def cursor() -> duckdb.DuckDBPyConnection:
            if not hasattr(own, "cursor"):
                own.cursor = connection.cursor()
                for option in DUCKDB_SETTINGS:
                    own.cursor.execute(option)
            return own.cursor  # type: ignore[no-any-return]

        yield cursor
    other.unlink()


def in_turns(ours: Callable[[], object], theirs: Callable[[], object], repeat: int) -> list[tuple[float, float]]:
    """The seconds of both, time after time, after one that does not count; each begins every other time."""
    pairs = []
    for turn in range(repeat + 1):
        if turn % 2:
            first = seconds(ours)
            pairs.append((first, seconds(theirs)))
        else:
            first = seconds(theirs)
            pairs.append((seconds(ours), first))
    return pairs[1:]


def all_at_once(pool: ThreadPoolExecutor, action: Callable[[], object]) -> Callable[[], object]:
    """What runs `action` by all callers at the same time."""
    return lambda: [future.result() for future in [pool.submit(action) for _ in range(CALLERS)]]


def compared(name: str, pairs: list[tuple[float, float]]) -> Figures:
    """The least disturbed of each: what else the machine does makes both slower, and never quicker."""
    ours, theirs = (1000 * min(times) for times in zip(*pairs, strict=True))
    return {f"{name}: bmsql, ms": ours, f"{name}: DuckDB alone, ms": theirs, f"{name}: ratio": ours / theirs}


# Each in a process of its own, in this order; what else is to be measured at scale is added here.
SECTIONS: tuple[Callable[[Setting, int], Figures], ...] = (make, queries)


def threads() -> int:
    """As many as the backend uses."""
    return min(os.cpu_count() or 1, 4)


def seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def peak_mb() -> float:
    """The most memory that this process has used."""
    status = Path("/proc/self/status")
    if status.exists():
        # Where there is it, as the figure of `getrusage` begins with that of the process that started this one.
        found = next(line for line in status.read_text("ascii").splitlines() if line.startswith("VmHWM:"))
        return int(found.split()[1]) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def asked() -> tuple[str, dict[str, str]]:
    """The SQL of each question, as the agent makes it, and the dataset that it names."""
    from bmsql import Agent
    from bmsql.data import facts_manifest

    with Agent() as agent:
        return facts_manifest().dataset, {name: agent.ask(question).sql for name, question in QUESTIONS.items()}


def measure(rows: int, setting: Setting) -> Figures:
    """The figures of all sections for one size."""
    figures: Figures = {}
    for section in SECTIONS:
        task = json.dumps({"section": section.__name__, "rows": rows, "setting": setting.__dict__})
        done = subprocess.run([sys.executable, __file__, "--section", task], stdout=subprocess.PIPE, check=True)
        figures |= json.loads(done.stdout.decode().splitlines()[-1])
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, action="append", help="synthetic rows; may be given several times")
    parser.add_argument("--repeat", type=int, default=50, help="how often each query is timed")
    parser.add_argument("--memory-mb", type=int, default=1024, help="DuckDB's memory limit, for all sections")
    parser.add_argument("--folder", type=Path, help="where the files are made; a temporary folder by default")
    parser.add_argument("--section", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.section:
        task = json.loads(options.section)
        section = next(each for each in SECTIONS if each.__name__ == task["section"])
        print(json.dumps(section(Setting(**task["setting"]), task["rows"])))
        return
    dataset, sql = asked()
    sizes = options.rows or [200_000]
    found = []
    for rows in sizes:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            file = str(Path(folder, "scale.duckdb"))
            found.append(measure(rows, Setting(file, dataset, sql, max(1, options.repeat), options.memory_mb)))
    width = max(len(name) for name in found[0])
    print(f"{'synthetic rows':{width}}" + "".join(f"{rows:>14,}" for rows in sizes))
    for name in found[0]:
        growth = f"  x {found[-1][name] / found[0][name]:.1f}" if len(found) > 1 and found[0][name] else ""
        print(f"{name:{width}}" + "".join(f"{figures[name]:14.2f}" for figures in found) + growth)


if __name__ == "__main__":
    main()
