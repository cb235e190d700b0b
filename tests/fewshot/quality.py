"""How often the nearest example is one whose query is built the same over the same tables."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Literal

from benchmarks.mutations.gold import TABLES

from bmsql.fewshot import Example, ExampleStore, mask_question, skeleton
from bmsql.fewshot._skeleton import tables_of
from bmsql.semantic import load_semantic_model
from tests.yaml_files import read_yaml

DATA = Path(__file__).parents[1] / "data"


@cache
def gold(count: int) -> tuple[Example, ...]:
    """Questions of the test data with their gold SQL, each once, the same ones every time."""
    found: dict[str, Example] = {}
    for path in [DATA / "questions_dev.yaml", *sorted((DATA / "questions").glob("*.yaml"))]:
        for one in read_yaml(path):
            if one.get("sql"):
                sql = one["sql"]
                for short, table in TABLES.items():
                    sql = sql.replace(f"{{{short}}}", table)
                found.setdefault(one["q"].casefold(), Example(question=one["q"], sql=sql))
    chosen = random.Random(7).sample([*found.values()], count)
    return tuple(
        one.model_copy(update={"masked": mask_question(one.question), "skeleton": skeleton(one.sql)}) for one in chosen
    )


class Given(ExampleStore):
    """A store of examples that are given, without a file."""

    def __init__(self, examples: tuple[Example, ...]) -> None:
        super().__init__(load_semantic_model())
        self._own = list(examples)


def share_right(examples: tuple[Example, ...], *, by: Literal["lexical", "draft", "random"]) -> float:
    """The share of questions whose nearest other example fits; for `random`, the share of all pairs that fit."""
    if by == "random":
        pairs = [(one, other) for one in examples for other in examples if one is not other]
        return sum(_fits(one, other) for one, other in pairs) / len(pairs)
    store, hits = Given(examples), 0
    for one in examples:
        draft = one.sql if by == "draft" else None
        [scored] = store.nearest(one.question, (), draft_sql=draft, k=1, hold_out=_is(one))
        hits += _fits(one, scored.example)
    return hits / len(examples)


def _fits(one: Example, other: Example) -> bool:
    """Whether two queries are built the same over the same tables."""
    return one.skeleton == other.skeleton and tables_of(one.sql) == tables_of(other.sql)


def _is(one: Example) -> Callable[[Example], bool]:
    return lambda other: other.question == one.question
