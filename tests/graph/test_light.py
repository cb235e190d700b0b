"""What a question must not pay for: threads for what is over at once, runs of their own for routes, a second check."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from bmsql.graph import Step, Wait, Work, compile_graph
from bmsql.graph._drive import adrive, drive
from bmsql.testing import ScriptedReasoner
from bmsql.types import Answer
from tests.graph.fakes import ALL, PLAN, dependencies

QUESTION = {"question": "Which SNPs?"}


class Names(BaseCallbackHandler):
    """The names of the runs that were begun."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def on_chain_start(self, serialized: Any, inputs: Any, **kwargs: Any) -> None:
        self.begun.append(kwargs["name"])


class Counting(ThreadPoolExecutor):
    """A pool that counts what it is given."""

    given = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given += 1
        return super().submit(fn, *args, **kwargs)


def test_callbacks_see_a_run_for_the_graph_and_one_for_each_node() -> None:
    names = Names()
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))
    answer = Answer.model_validate(graph.invoke(QUESTION, {"callbacks": [names]})["answer"])
    assert names.begun == ["bmsql", *(entry.node for entry in answer.trace)]


async def test_routes_need_no_thread() -> None:
    with Counting(2) as pool:
        asyncio.get_running_loop().set_default_executor(pool)
        graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))
        answer = Answer.model_validate((await graph.ainvoke(QUESTION))["answer"])
        assert len(answer.trace) > 5
        assert pool.given == 0


@pytest.mark.parametrize("over", [True, False])
async def test_what_is_over_needs_no_thread(over: bool) -> None:
    def node() -> Work:
        ident = yield Wait(threading.get_ident, over=over)
        return Step({"ident": ident}, "ran")

    step = await adrive(node(), None)
    assert (step.update["ident"] == threading.get_ident()) is over
    assert drive(node(), None).update["ident"] == threading.get_ident()


async def test_a_verdict_that_is_known_needs_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[bool] = []
    kept = Wait.__new__

    def noted(cls: type[Wait], function: Callable[[], Any], over: bool = False) -> Wait:
        waits.append(over)
        return kept(cls, function, over)

    monkeypatch.setattr(Wait, "__new__", noted)
    graph = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))
    first, second = [Answer.model_validate((await graph.ainvoke(QUESTION))["answer"]) for _ in range(2)]
    # The draft is held against its plan each time; the refined query is only validated.
    assert [entry.node for entry in second.trace].count("validate") == 2
    assert (waits[: len(waits) // 2].count(True), waits[len(waits) // 2 :].count(True)) == (0, 1)
    assert first.sql == second.sql


def test_a_text_is_checked_once() -> None:
    deps = dependencies(ScriptedReasoner())
    assert not deps.has_verdict(ALL)
    verdict = deps.validate(ALL)
    assert deps.has_verdict(ALL)
    assert deps.validate(ALL) is verdict
