"""Recall and precision of the linker over the linking tables of the tests, and every confusion."""

from __future__ import annotations

import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bmsql.backends import open_embedded  # noqa: E402
from bmsql.linking import Linker, ValueIndex  # noqa: E402
from bmsql.semantic import load_semantic_model  # noqa: E402
from tests.linking.measure import cases, measure  # noqa: E402


def main() -> None:
    model = load_semantic_model()
    with open_embedded() as backend:
        linker = Linker(model, ValueIndex.build(backend, model))
    for file in ("mentions.yaml", "researchers.yaml"):
        measured = measure(linker, file)
        for question, expected, found in measured.confusions:
            print(question, f"  expected {expected}", f"  found    {found}", sep="\n")
        print(
            f"{file}: {len(cases(file))} questions, {measured.expected} mentions, "
            f"recall {measured.recall:.3f}, precision {measured.precision:.3f}\n"
        )
    seconds = []
    for case in cases():
        start = time.perf_counter()
        linker.link(str(case["q"]))
        seconds.append(time.perf_counter() - start)
    median = sorted(seconds)[len(seconds) // 2]
    print(f"median {1000 * median:.2f} ms a question")


if __name__ == "__main__":
    main()
