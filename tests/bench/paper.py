"""What the tests of the paper's systems share: a question with its gold, and the calls that each system makes."""

from __future__ import annotations

from collections.abc import Callable

from bmsql.bench.systems import GraphSystem, system_names
from bmsql.testing import ScriptedChatModel
from bmsql.types import Answer

AD = "AlzheimerDisease_CombinedGeneData_UUID"
QUESTION = "What is the p-value of rs75932628 in the Alzheimer's GWAS?"
GOLD = f"SELECT UUID, SNP, p FROM {AD} WHERE SNP = 'rs75932628'"
ONE_QUERY = ("draft", "answer")
CALLS = {
    **{name: ONE_QUERY for name in system_names() if name.partition(":")[0] in {"single", "index"}},
    "dail-sql": ("preliminary", "draft", "answer"),
    "react": ("react", "react"),
    "bmsql-paper": ("columns", "draft", "refine", "answer", "sufficient"),
}
Open = Callable[..., GraphSystem]


def nodes(answer: Answer) -> list[str]:
    return [entry.node for entry in answer.trace]


def steps(model: ScriptedChatModel) -> list[str]:
    return [call.step for call in model.calls]


SHAPES = ("single", "index", "dail-sql", "react", "bmsql-paper")
