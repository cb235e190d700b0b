"""Compares what the linker finds with the linking table; used by the tests and by the report script."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bmsql.linking import Linker
from bmsql.types import Mention
from tests.yaml_files import read_yaml


@dataclass
class Measured:
    """Counts over the linking table, and the questions where the linker differs from it."""

    expected: int = 0
    found: int = 0
    right: int = 0
    confusions: list[tuple[str, list[str], list[str]]] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return self.right / self.expected

    @property
    def precision(self) -> float:
        return self.right / self.found


def cases(file: str = "mentions.yaml") -> list[dict[str, object]]:
    return list(read_yaml(Path(__file__).parent / file))


def spelled(mention: Mention) -> str:
    """A mention as the linking table writes it."""
    mark = "~" if mention.method == "unlinked" else "" if any(mention.stored.values()) else "?"
    return f"{mention.text}: {mention.entity}/{mark}{mention.value}"


def measure(linker: Linker, file: str = "mentions.yaml") -> Measured:
    measured = Measured()
    for case in cases(file):
        question, expected = str(case["q"]), list(case["m"])
        found = [spelled(mention) for mention in linker.link(question)]
        missing = list(expected)
        for mention in found:
            if mention in missing:
                missing.remove(mention)
        measured.expected += len(expected)
        measured.found += len(found)
        measured.right += len(expected) - len(missing)
        if found != expected:
            measured.confusions.append((question, expected, found))
    return measured
