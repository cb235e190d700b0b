"""Time and memory of linking the names in a question to stored values, and of building the index of values.

python benchmarks/bench_linking.py [--repeat N] [--backend URL] [--drugs N ...]

Without options over the embedded knowledge base; with --backend over another one, such as a synthetic one that
`bmsql kb synth` made. --drugs adds so many synthetic drugs, each with a dozen synonyms, to a copy of the
embedded one; several sizes show growth. Building, and opening and linking, run in processes of their own,
so that peak memory is that of each.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from bmsql.backends import ensure_embedded, open_backend
from bmsql.linking import Linker, ValueIndex
from bmsql.semantic import load_semantic_model

QUESTIONS = Path(__file__).resolve().parent.parent / "tests" / "data" / "questions_dev.yaml"
MISSPELT = "Is donepezzil approved for Parkinsn's diseese?"
SYNONYMS = 12
Figures = dict[str, float]


def build(url: str, file: str) -> Figures:
    """Build the index of a knowledge base and keep it in `file`."""
    model = load_semantic_model()
    backend = open_backend(url)
    backend.catalog()
    before = peak_mb()
    started = time.perf_counter()
    index = ValueIndex.build(backend, model)
    built = time.perf_counter() - started
    index.save(file)
    backend.close()
    return {
        "build: seconds": built,
        "build: processor seconds": time.process_time(),
        "build: peak memory, MB": peak_mb(),
        "build: of that before it, MB": before,
        "index file, MB": index.size / 1e6,
    }


def link(file: str, repeat: int) -> Figures:
    """Open an index from its file alone, and link questions."""
    model = load_semantic_model()
    before = peak_mb()
    started = time.perf_counter()
    index = ValueIndex.load(file)
    opened = time.perf_counter() - started
    linker = Linker(model, index)
    questions = [entry["q"] for entry in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))]
    started = time.perf_counter()
    linker.link(questions[0])
    first = time.perf_counter() - started
    linker.link(MISSPELT)
    seconds = sorted(timed(linker, question) for _ in range(repeat) for question in questions)
    misspelt = sorted(timed(linker, MISSPELT) for _ in range(10 * repeat))
    return {
        "open: milliseconds": opened * 1000,
        "first question: milliseconds": first * 1000,
        "question: median, milliseconds": statistics.median(seconds) * 1000,
        "question: 95 %, milliseconds": seconds[int(0.95 * len(seconds))] * 1000,
        "misspelt question: median, milliseconds": statistics.median(misspelt) * 1000,
        "linking: memory added, MB": peak_mb() - before,
    }


def timed(linker: Linker, question: str) -> float:
    """Seconds to link a question."""
    started = time.perf_counter()
    linker.link(question)
    return time.perf_counter() - started


def with_drugs(path: Path, drugs: int) -> None:
    """A copy of the embedded knowledge base with synthetic drugs, which have pronounceable names."""
    import duckdb

    from bmsql.semantic import load_semantic_model

    shutil.copy(ensure_embedded().path, path)
    model = load_semantic_model()
    (table,) = model.tables_of("drug")
    name, chembl, synonyms = (model.column(table, role) for role in ("drug.name", "drug.chembl", "drug.synonyms"))
    syllables = [first + second for first in "bcdfglmnprstvz" for second in ("a", "e", "i", "o", "u", "an", "el", "or")]
    with duckdb.connect(str(path)) as connection:
        spelt = "list_aggregate([s[1 + (hash(n, k) % len(s))::INT] for k in range(5)], 'string_agg', '')"
        connection.execute(
            f"INSERT INTO {table} ({name}, {chembl}, {synonyms}) "  # noqa: S608
            f"SELECT {spelt.replace('hash(n, k)', 'hash(i, k)')}, 'CHEMBL9' || i, "
            f"list_aggregate([{spelt} || ' ' || n for n in range(i * {SYNONYMS}, (i + 1) * {SYNONYMS})], "
            "'string_agg', ', ') "
            "FROM range(?) r(i), (SELECT ? AS s)",
            [drugs, syllables],
        )


def peak_mb() -> float:
    """Peak resident memory of this process; where Linux tells it, without what it had of its parent."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+)", status.read_text(encoding="utf-8")) if status.exists() else None
    return int(found.group(1)) / 1024 if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(*arguments: str) -> Figures:
    """The figures of a step in a process of its own."""
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def measured(url: str, repeat: int) -> Figures:
    """Build the index of a knowledge base, then link with it."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "values.arrow")
        figures = apart("--step", "build", "--backend", url, "--file", file)
        return figures | apart("--step", "link", "--file", file, "--repeat", str(repeat))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeat", type=int, default=10, help="how often each question is linked")
    parser.add_argument("--backend", nargs="+", default=["embedded"], help="knowledge bases, by their URLs")
    parser.add_argument(
        "--drugs", type=int, nargs="+", default=[], help="synthetic drugs to add, in each of several sizes"
    )
    parser.add_argument("--step", choices=("build", "link"), help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    repeat = max(1, options.repeat)
    if options.step == "build":
        print(json.dumps(build(options.backend[0], options.file)))
        return
    if options.step == "link":
        print(json.dumps(link(options.file, repeat)))
        return
    results = {url: measured(url, repeat) for url in options.backend} if not options.drugs else {}
    for drugs in options.drugs:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "drugs.duckdb"
            with_drugs(path, drugs)
            results[f"{drugs} drugs"] = measured(f"duckdb:///{path.as_posix().lstrip('/')}", repeat)
    width = max(len(name) for figures in results.values() for name in figures)
    for title, figures in results.items():
        print(title)
        for name, value in figures.items():
            print(f"  {name:<{width}}  {value:12.2f}")


if __name__ == "__main__":
    main()
