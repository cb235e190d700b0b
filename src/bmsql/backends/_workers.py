"""Threads that are kept for the next piece of work, as starting one costs more than a short query."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from queue import SimpleQueue
from typing import NamedTuple

Work = Callable[[], None]

# How long closing waits for an idle thread. It ends at once, unless the interpreter is ending and took it away.
_JOIN_SECONDS = 1.0


class _Task(NamedTuple):
    work: Work
    ended: Work


class _Worker:
    """A daemon thread: neither what it runs nor its waiting for more keeps the interpreter from ending."""

    def __init__(self, serve: Callable[[_Worker], None]) -> None:
        self.inbox: SimpleQueue[_Task | None] = SimpleQueue()
        self.thread = threading.Thread(target=serve, args=(self,), name="bmsql-query", daemon=True)


class Workers:
    """Runs each piece of work at once, in a thread that has nothing else to do.

    Up to `kept` idle threads wait for more; when none is idle, another is started. So work that never ends
    holds its thread and nobody else. A forked process has none of the threads: it needs `Workers` of its own.
    """

    def __init__(self, kept: int) -> None:
        self._kept = kept
        self._idle: list[_Worker] = []
        self._closed = False
        self._lock = threading.Lock()

    def start(self, work: Work, ended: Work) -> None:
        """Run `work`, in an empty context, then `ended`: by then the thread is free for other work.

        Neither may raise. Raises RuntimeError when no thread can be started.
        """
        with self._lock:
            # The last that became idle: its memory is warmest.
            worker = self._idle.pop() if self._idle else None
        if worker is None:
            worker = _Worker(self._serve)
            worker.thread.start()
        worker.inbox.put(_Task(work, ended))

    def close(self) -> None:
        """End the idle threads now, and each of the others when its work has ended."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.inbox.put(None)
        for worker in idle:
            worker.thread.join(_JOIN_SECONDS)

    def _serve(self, worker: _Worker) -> None:
        kept = True
        while kept and (task := worker.inbox.get()) is not None:
            Context().run(task.work)
            kept = self._keep(worker)
            task.ended()
            del task  # an idle thread must not hold the result of its last work

    def _keep(self, worker: _Worker) -> bool:
        with self._lock:
            if self._closed or len(self._idle) >= self._kept:
                return False
            self._idle.append(worker)
            return True


def start_thread(work: Work, ended: Work) -> None:
    """`Workers.start` with a thread that is not kept."""

    def run() -> None:
        work()
        ended()

    threading.Thread(target=run, name="bmsql-query", daemon=True).start()
