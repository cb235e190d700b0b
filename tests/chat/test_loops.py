"""One client in several event loops, threads and tasks: no closed loop, no cross-talk, no leaked connection."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel

from bmsql.errors import QueryCancelledError
from bmsql.reasoners.chat import ChatClient, Message, Request
from tests.servers import Answer, ModelServer, Received, Say, Status


def request(text: str) -> Request:
    return Request("answer", (Message(role="user", content=text),))


def echo(received: Received) -> Answer:
    """Say again what was said, so that a reply to another's question is seen."""
    body = received.body
    return Say(body["contents"][-1]["parts"][0]["text"] if "contents" in body else body["messages"][-1]["content"])


async def ask_many(client: ChatClient, name: str, count: int) -> None:
    texts = [f"{name} {number}" for number in range(count)]
    replies = await asyncio.gather(*(client.acomplete(request(text)) for text in texts))
    assert [reply.value for reply in replies] == texts


def test_one_client_in_many_loops(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    serve(echo)
    client = ChatClient(model, attempts=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        asyncio.run(ask_many(client, "first", 4))
        assert client.complete(request("between")).value == "between"
        asyncio.run(ask_many(client, "second", 4))
        gc.collect()
    assert [str(item.message) for item in caught if "127.0.0.1" in str(item.message)] == []


def test_threads_and_loops_at_once(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    serve(echo)
    client = ChatClient(model, attempts=1)

    def in_a_loop(name: str) -> None:
        asyncio.run(ask_many(client, name, 5))

    def in_a_thread(name: str) -> None:
        for number in range(5):
            assert client.complete(request(f"{name} {number}")).value == f"{name} {number}"

    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(work, f"{work.__name__} {turn}") for turn in range(3) for work in (in_a_loop, in_a_thread)]
        for job in jobs:
            job.result(timeout=60)


def test_cancelling_the_task_closes_the_connection(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    server = serve(Say("too late", delay=20))

    async def cancel() -> None:
        task = asyncio.create_task(ChatClient(model).acomplete(request("hello")))
        await asyncio.to_thread(server.arrived.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(cancel())
    assert time.monotonic() - began < 10
    assert server.gone.wait(5), "the server was not told"


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    "script", [Say("too late", delay=20), Status(503, headers={"Retry-After": "20"})], ids=["call", "wait"]
)
def test_the_event_stops_a_request(
    model: BaseChatModel, serve: Callable[..., ModelServer], script: Answer, asynchronous: bool
) -> None:
    server = serve(script)
    cancel, client = threading.Event(), ChatClient(model, seconds=60)

    def ask() -> None:
        if asynchronous:
            asyncio.run(client.acomplete(request("hello"), cancel=cancel))
        else:
            client.complete(request("hello"), cancel=cancel)

    def set_soon() -> None:
        server.arrived.wait(10)
        cancel.set()

    setter = threading.Thread(target=set_soon)
    setter.start()
    began = time.monotonic()
    with pytest.raises(QueryCancelledError):
        ask()
    setter.join()
    assert time.monotonic() - began < 10
    assert len(server.received) == 1


def test_an_event_set_before_costs_no_call(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    server = serve(Say("no"))
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(QueryCancelledError):
        ChatClient(model).complete(request("hello"), cancel=cancel)
    assert server.received == []


def test_the_loop_is_not_blocked(model: BaseChatModel, serve: Callable[..., ModelServer]) -> None:
    serve(Say("done", delay=0.5))
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async def run() -> list[Any]:
        client, ticking = ChatClient(model), asyncio.create_task(tick())
        began = time.monotonic()
        replies = await asyncio.gather(*(client.acomplete(request("hello")) for _ in range(16)))
        assert time.monotonic() - began < 16 * 0.5 / 2
        ticking.cancel()
        return replies

    assert [reply.value for reply in asyncio.run(run())] == ["done"] * 16
    # Were the loop to wait for the calls, it would come to itself once for each at most.
    assert ticks > 20
