"""What is wrong with an answer."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """A piece of an answer that its evidence does not bear out.

    piece: as it stands in the text; kind: `number`, `identifier`, `claim`, or the entity of the semantic
    model that it names (`gene`, `drug`, `disease`, ...); why: what is wrong, and what may be said instead;
    start: its place in the text.
    """

    piece: str
    kind: str
    why: str
    start: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.why}." if self.piece in self.why else f"'{self.piece}': {self.why}."
