"""Questions that are asked at once take turns at the database, and nobody keeps a turn for nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bmsql.errors import QueryCancelledError, QueryTimeoutError
from bmsql.graph import Budgets, _nodes, _threads, _turns, ainvoke_graph, compile_graph
from bmsql.graph._turns import Turn
from bmsql.testing import ScriptedReasoner
from bmsql.types import Draft, Plan
from tests.graph.fakes import ALL, PLAN, LittleBackend, dependencies


@pytest.fixture(autouse=True)
def two_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two questions at once have a turn, and keep it as long as they like."""
    monkeypatch.setattr(_turns, "_AT_ONCE", 2)
    monkeypatch.setattr(_threads, "_LONG", 30.0)
    yield
    _turns._loops.clear()


class Busy:
    """Work that takes a while; how many were at it at most, and who was done in which order."""

    def __init__(self, seconds: float = 0.02) -> None:
        self.most = 0
        self.done: list[int] = []
        self._seconds, self._now, self._lock = seconds, 0, threading.Lock()

    def work(self, number: int) -> int:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(self._seconds)
        with self._lock:
            self._now -= 1
            self.done.append(number)
        return number


async def question(busy: Busy, number: int, queries: int = 3) -> int:
    with Turn() as turn:
        for _ in range(queries):
            found: int = await turn.run(lambda: busy.work(number))
    return found


async def test_few_are_at_it_at_once_and_each_is_done_before_the_next() -> None:
    busy = Busy()
    assert await asyncio.gather(*(question(busy, number) for number in range(8))) == list(range(8))
    assert busy.most == 2
    first, last = busy.done[:6], busy.done[-6:]
    assert sorted(first) == [0, 0, 0, 1, 1, 1]
    assert sorted(last) == [6, 6, 6, 7, 7, 7]


async def test_what_takes_long_lets_others_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "_LONG", 0.01)
    busy = Busy(seconds=0.5)
    began = time.monotonic()
    await asyncio.gather(*(question(busy, number, queries=1) for number in range(10)))
    assert busy.most > 4
    assert time.monotonic() - began < 2.0


async def test_a_turn_that_was_given_is_taken_again() -> None:
    with Turn() as first, Turn() as second, Turn() as third:
        for turn in (first, second):
            await turn.run(lambda: None)
        waiting = asyncio.ensure_future(third.run(lambda: "third"))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        first.give()
        first.give()  # giving twice lets in no more than one
        assert await waiting == "third"
        again = asyncio.ensure_future(first.run(lambda: "again"))
        await asyncio.sleep(0.05)
        assert not again.done()
        second.give()
        assert await again == "again"


async def test_an_error_and_a_cancelled_question_give_their_turns_back() -> None:
    def fail() -> None:
        raise QueryCancelledError("stopped")

    for _ in range(3):
        with pytest.raises(QueryCancelledError), Turn() as turn:
            await turn.run(fail)
    busy = Busy(seconds=0.3)
    tasks = [asyncio.ensure_future(question(busy, number)) for number in range(5)]
    await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    assert all(isinstance(one, asyncio.CancelledError) for one in await asyncio.gather(*tasks, return_exceptions=True))
    assert await asyncio.wait_for(question(Busy(), 9), 5) == 9


def test_each_event_loop_has_its_own() -> None:
    busy = Busy(seconds=0.2)
    threads = [threading.Thread(target=asyncio.run, args=(question(busy, number, 1),)) for number in range(5)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert busy.most > 2
    assert time.monotonic() - began < 3.0


async def test_a_question_asked_from_within_another_does_not_wait_for_it() -> None:
    inner = compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL)))

    class Asking(ScriptedReasoner):
        async def aanswer(self, evidence: object) -> str:
            return (await ainvoke_graph(inner, "Which SNPs?")).text

    outer = compile_graph(dependencies(Asking(plan=PLAN, draft=ALL), LittleBackend()))
    answers = await asyncio.wait_for(asyncio.gather(*(ainvoke_graph(outer, "Which?") for _ in range(6))), 30)
    assert {answer.text for answer in answers} == {"3 rows."}


def left_running(monkeypatch: pytest.MonkeyPatch, function: object) -> None:
    """What would wait for `function` is told that its query was left running."""
    real = _turns.in_thread

    async def in_thread(work: Any, late: Any = None) -> Any:
        if getattr(work, "func", None) is function:
            raise QueryTimeoutError("The query did not end within 60 s and was stopped.", remedy="Ask for less.")
        return await real(work, late)

    monkeypatch.setattr(_turns, "in_thread", in_thread)


async def test_a_query_that_was_left_running_is_repaired_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    left_running(monkeypatch, _nodes.run_stage)
    reasoner = ScriptedReasoner(plan=PLAN, draft=ALL, repair=None)
    answer = await ainvoke_graph(compile_graph(dependencies(reasoner)), "Which SNPs?")
    assert answer.abstained
    assert "did not end within 60 s and was stopped. Ask for less." in answer.text
    (attempt,) = next(arguments for step, arguments in reasoner.calls if step == "repair")[2]
    assert "did not end within 60 s" in attempt.error


async def test_counts_that_were_left_running_cost_the_counts_only(monkeypatch: pytest.MonkeyPatch) -> None:
    left_running(monkeypatch, _nodes.measure)
    answer = await ainvoke_graph(compile_graph(dependencies(ScriptedReasoner(plan=PLAN, draft=ALL))), "Which SNPs?")
    assert [row["SNP"] for row in answer.rows] == ["rs2", "rs1", "rs6"]
    assert [record.rule for record in answer.conventions if record.status == "applied"]
    assert "could not be determined" in answer.warnings[-1]


async def test_a_candidate_that_was_left_running_costs_its_vote_only(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = _turns.in_thread, []

    async def in_thread(work: Any, late: Any = None) -> Any:
        if getattr(work, "func", None) is _nodes.rows_of:
            calls.append(work)
            if len(calls) == 2:
                raise QueryTimeoutError("The query did not end within 60 s and was stopped.", remedy="Ask for less.")
        return await real(work, late)

    class Sampling(ScriptedReasoner):
        def drafts(self, question: str, plan: Plan, count: int) -> tuple[Draft, ...]:
            return tuple(Draft(sql=f"{ALL} LIMIT {9 + n}", author="model") for n in range(count))

    monkeypatch.setattr(_turns, "in_thread", in_thread)
    deps = dependencies(Sampling(plan=PLAN), budgets=Budgets(candidates=3))
    answer = await ainvoke_graph(compile_graph(deps), "Which SNPs?")
    assert [row["SNP"] for row in answer.rows] == ["rs2", "rs1", "rs6", "rs3"]
    assert next(entry for entry in answer.trace if entry.node == "generate").detail["candidates"] == [2]
