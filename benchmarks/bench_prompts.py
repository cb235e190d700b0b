"""Prompt size, calls and recall of a question, by step, with a scripted model that gives the gold drafts.

No model is called: `ScriptedChatModel` answers. Each question is asked twice: `drafted`, where the plan leaves the
query to the model, which then writes the gold query (the dearest way); and `planned`, where the plan is
accepted and compiled. Tokens are UTF-8 bytes / 4 of messages and reply schema. Recall: the share of the gold
query's tables, columns and literals that stand in the draft prompt.

python benchmarks/bench_prompts.py [FILE ...] [--missing]
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlglot import exp

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.mutations.gold import TABLES  # noqa: E402

from bmsql import Agent  # noqa: E402
from bmsql.sql import parse  # noqa: E402
from bmsql.testing import ScriptedCall, ScriptedChatModel  # noqa: E402
from tests.offline.scoring import Question, load  # noqa: E402

DATA = ROOT / "tests" / "data"


def tokens(call: ScriptedCall) -> int:
    """What a call's messages and bound schema take, in estimated tokens."""
    bound = json.dumps(call.arguments, default=str) if call.arguments else ""
    return (len(call.prompt.encode()) + len(bound.encode())) // 4


def gold_words(sql: str) -> dict[str, set[str]]:
    """Tables, columns and literals of a query, in the forms in which a prompt may give them."""
    tree = parse(sql)
    made = {item.alias for item in tree.find_all(exp.Alias)} | {cte.alias for cte in tree.find_all(exp.CTE)}
    aliases = {table.alias for table in tree.find_all(exp.Table) if table.alias}
    unnested = {column.name for node in tree.find_all(exp.Unnest) for column in node.find_all(exp.Identifier)}
    return {
        "table": {table.name.rpartition(".")[2] for table in tree.find_all(exp.Table)} - made,
        "column": {c.name for c in tree.find_all(exp.Column) if c.name not in made | aliases | unnested},
        "literal": {literal.name for literal in tree.find_all(exp.Literal)},
    }


def present(kind: str, word: str, prompt: str) -> bool:
    """Whether a table, column or literal stands in a prompt; numbers in any notation, patterns by their words."""
    low = prompt.casefold()
    if kind != "literal":
        return word.casefold() in low
    try:
        value = float(word)
    except ValueError:
        # A pattern's wildcards and separators are how it is matched, which the conditions show.
        parts = [part for part in re.split(r"[%\\^$|()\[\]]+|, ", word) if part.strip(" ;,")]
        return all(part.casefold().strip() in low for part in parts)
    return any(_is_number(text, value) for text in _numbers(low))


def _numbers(text: str) -> Iterator[str]:
    yield from re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text.replace(",", ""))


def _is_number(text: str, value: float) -> bool:
    return float(text) == value


class Measured:
    """What one way of answering took, over many questions."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.totals: list[int] = []
        self.steps: dict[str, list[int]] = defaultdict(list)
        self.found = 0
        self.wanted = 0
        self.missing: list[str] = []

    def add(self, model: ScriptedChatModel, case: Question, gold: dict[str, set[str]]) -> None:
        """Count a question's calls, and what its draft prompt holds of the gold query."""
        self.calls.append(len(model.calls))
        self.totals.append(sum(map(tokens, model.calls)))
        for call in model.calls:
            self.steps[call.step].append(tokens(call))
            if call.step == "draft":
                for kind, words in gold.items():
                    absent = [word for word in words if not present(kind, word, call.prompt)]
                    self.wanted += len(words)
                    self.found += len(words) - len(absent)
                    self.missing += [f"{case.id}: {kind} {word}" for word in absent]

    def lines(self) -> Iterator[str]:
        """What to print."""
        yield f"  calls      median {statistics.median(self.calls):g}, most {max(self.calls)}"
        yield f"  tokens     median {statistics.median(self.totals):.0f}, most {max(self.totals)}"
        for step, taken in self.steps.items():
            yield f"    {step:<9}median {statistics.median(taken):.0f}, most {max(taken)}, in {len(taken)} calls"
        if self.wanted:
            share = self.found / self.wanted
            yield f"  recall     {share:.1%} of {self.wanted} tables, columns and literals in the draft prompt"


def replies(case: Question, sql: str, way: str) -> dict[str, Any]:
    """What the scripted model says in each step."""
    tables = [table.name.rpartition(".")[2] for table in parse(sql).find_all(exp.Table)]
    plan = {"complete": False, "tables": list(dict.fromkeys(tables))} if way == "drafted" else {"use_reading": True}
    # Words that say nothing: they hold whatever the rows are.
    return {"plan": plan, "draft": sql, "repair": "NONE", "answer": "The rows are given below."}


def measure(cases: list[Question], way: str) -> Measured:
    measured = Measured()
    for case in cases:
        sql = case.sql.format(**TABLES)
        model = ScriptedChatModel(steps=replies(case, sql, way))
        with Agent(model=model) as agent:
            agent.ask(case.q)
        measured.add(model, case, gold_words(sql))
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", nargs="*", type=Path, help="question files; the development questions by default")
    parser.add_argument("--missing", action="store_true", help="list what of the gold queries no prompt held")
    parser.add_argument("--repeat", type=int, default=1, help="taken for the sake of `make bench`; nothing is timed")
    options = parser.parse_args()
    cases = [case for path in options.files or [DATA / "questions_dev.yaml"] for case in load(path) if case.sql]
    print(f"{len(cases)} questions")
    for way in ("drafted", "planned"):
        measured = measure(cases, way)
        print(way, *measured.lines(), sep="\n")
        if options.missing:
            print(*measured.missing, sep="\n")


if __name__ == "__main__":
    main()
