"""What is closed when a `with` block ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """A base of what holds something open: `with` gives it, and closes it at the end, whatever happens."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
