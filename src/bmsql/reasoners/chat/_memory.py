"""What was learnt of a model by asking it: the ways and parameters that it refuses.

It is kept for the life of the process, by the model's identity, and shared by all threads.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from bmsql.reasoners.chat._messages import Way

if TYPE_CHECKING:
    from bmsql.reasoners.chat._identity import Identity


class ModelMemory:
    """The ways and parameters that one model refuses. Safe in threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ways: set[tuple[Way, str]] = set()
        self._parameters: set[str] = set()

    def drop_way(self, way: Way, schema: str = "") -> None:
        """Do not ask in this way again; with `schema`, for the schema of that name only."""
        with self._lock:
            self._ways.add((way, schema))

    def drop_parameter(self, name: str) -> None:
        """Do not send this parameter again."""
        with self._lock:
            self._parameters.add(name)

    def takes(self, parameter: str) -> bool:
        """Whether a parameter may be sent."""
        with self._lock:
            return parameter not in self._parameters

    def ways(self, schema: str) -> tuple[Way, ...]:
        """The ways left for a schema, best first; plain text is always one."""
        with self._lock:
            return tuple(
                way
                for way in Way
                if way is Way.TEXT or ((way, "") not in self._ways and (way, schema) not in self._ways)
            )


_memories: dict[Identity, ModelMemory] = {}
_lock = threading.Lock()


def memory_of(identity: Identity) -> ModelMemory:
    """The memory of a model, the same one for all its clients."""
    with _lock:
        return _memories.setdefault(identity, ModelMemory())


def forget_models() -> None:
    """Forget what was learnt of all models, such as after a server was changed or updated."""
    with _lock:
        _memories.clear()
