"""How well the nearest example fits: `bench_fewshot.py [--files FILE...] [--repeat N]`.

Each question of the test data is asked of all the others (leave one out). Printed are the shares of questions
whose nearest example has a query of the same skeleton, over the same tables, or both: for the lexical index, for
it with the gold query as draft (the best that a draft can do), and for an example drawn at random; then the time of
a query.
Questions of the same template are left out in a second table, as `hold_out` does.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.mutations.gold import TABLES  # noqa: E402

from bmsql.backends import cache_directory, open_backend  # noqa: E402
from bmsql.fewshot import Example, ExampleStore, mask_question, same_template, skeleton  # noqa: E402
from bmsql.fewshot._skeleton import tables_of  # noqa: E402
from bmsql.linking import Linker, ValueIndex  # noqa: E402
from bmsql.semantic import load_semantic_model  # noqa: E402
from bmsql.types import Mention  # noqa: E402

DATA = ROOT / "tests" / "data"
Figures = dict[str, float]


def questions(files: list[Path]) -> list[tuple[str, str]]:
    """Questions with their gold SQL, each once."""
    found: dict[str, str] = {}
    for path in files:
        for one in yaml.safe_load(path.read_text(encoding="utf-8")):
            if one.get("sql"):
                sql = one["sql"]
                for short, table in TABLES.items():
                    sql = sql.replace(f"{{{short}}}", table)
                found.setdefault(one["q"], sql)
    return [*found.items()]


def store_of(
    pairs: list[tuple[str, str]], linker: Linker, folder: str
) -> tuple[ExampleStore, dict[str, tuple[Mention, ...]]]:
    """A store of the questions, and the mentions of each."""
    bare = load_semantic_model().model_copy(update={"examples": ()})
    store = ExampleStore(bare, Path(folder) / "examples.jsonl")
    mentions = {question: linker.link(question) for question, _ in pairs}
    lines = [
        Example(question=q, sql=sql, masked=mask_question(q, mentions[q]), skeleton=skeleton(sql)).model_dump_json(
            exclude={"source"}
        )
        for q, sql in pairs
    ]
    (Path(folder) / "examples.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return store, mentions


def measure(
    store: ExampleStore, mentions: dict[str, tuple[Mention, ...]], *, by: str, templates: bool, seed: int = 1
) -> Figures:
    """The shares of questions whose nearest example fits."""
    chosen = random.Random(seed)  # noqa: S311
    hits = {"skeleton": 0, "tables": 0, "both": 0}
    examples = store.examples
    for one in examples:
        left_out = _left_out(one, templates=templates)
        if by == "random":
            kept = [other for other in examples if not left_out(other)]
            other = chosen.choice(kept)
        else:
            draft = one.sql if by == "draft" else None
            [found] = store.nearest(one.question, mentions[one.question], draft_sql=draft, k=1, hold_out=left_out)
            other = found.example
        skeletons, tables = other.skeleton == one.skeleton, tables_of(other.sql) == tables_of(one.sql)
        hits["skeleton"] += skeletons
        hits["tables"] += tables
        hits["both"] += skeletons and tables
    return {name: count / len(examples) for name, count in hits.items()}


def _left_out(one: Example, *, templates: bool) -> Callable[[Example], bool]:
    is_same = same_template(one)
    return lambda other: other.key == one.key or (templates and is_same(other))


def query_ms(store: ExampleStore, mentions: dict[str, tuple[Mention, ...]], repeat: int) -> float:
    """Milliseconds of a query, the median over the questions; the best of some rounds."""
    rounds = []
    for _ in range(repeat):
        times = []
        for one in store.examples[:200]:
            start = time.perf_counter()
            store.nearest(one.question, mentions[one.question])
            times.append(time.perf_counter() - start)
        rounds.append(1000 * median(times))
    return min(rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    files = options.files or [DATA / "questions_dev.yaml", *sorted((DATA / "questions").glob("*.yaml"))]
    model = load_semantic_model()
    with tempfile.TemporaryDirectory() as folder, open_backend() as backend:
        linker = Linker(model, ValueIndex.load_or_build(backend, model, cache_directory()))
        store, mentions = store_of(questions(files), linker, folder)
        print(f"{len(store.examples)} questions, {len({one.skeleton for one in store.examples})} skeletons")
        for templates in (False, True):
            print("the same template held out" if templates else "leave one out")
            for by in ("lexical", "draft", "random"):
                if by == "draft" and templates:
                    continue
                shares = measure(store, mentions, by=by, templates=templates)
                print(f"  {by:8}" + "".join(f"  {name} {100 * share:5.1f} %" for name, share in shares.items()))
        print(f"a query takes {query_ms(store, mentions, options.repeat):.1f} ms (median)")


if __name__ == "__main__":
    main()
