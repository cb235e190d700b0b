"""Time to link the names in a question to stored values, and to build and load the index of values.

python benchmarks/bench_linking.py [--repeat N]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import yaml

from bmsql.backends import open_embedded
from bmsql.linking import Linker, ValueIndex
from bmsql.semantic import load_semantic_model

QUESTIONS = Path(__file__).resolve().parent.parent / "tests" / "data" / "questions_dev.yaml"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeat", type=int, default=10, help="how often each question is linked")
    options = parser.parse_args()
    questions = [entry["q"] for entry in yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))]
    model = load_semantic_model()

    with open_embedded() as backend, tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        ValueIndex.load_or_build(backend, model, Path(folder))
        built = time.perf_counter() - started
        started = time.perf_counter()
        index = ValueIndex.load_or_build(backend, model, Path(folder))
        loaded = time.perf_counter() - started

    linker = Linker(model, index)
    started = time.perf_counter()
    linker.link(questions[0])
    first = time.perf_counter() - started
    seconds = []
    for _ in range(max(1, options.repeat)):
        for question in questions:
            started = time.perf_counter()
            linker.link(question)
            seconds.append(time.perf_counter() - started)
    seconds.sort()
    median, p95 = statistics.median(seconds) * 1000, seconds[int(0.95 * len(seconds))] * 1000

    print(f"{len(questions)} questions, linked {max(1, options.repeat)} times; milliseconds")
    print(f"link a question     median {median:.2f}, p95 {p95:.2f}")
    print(f"first question      {first * 1000:.1f}")
    print(f"index               built and stored {built * 1000:.0f}, loaded {loaded * 1000:.0f}")


if __name__ == "__main__":
    main()
