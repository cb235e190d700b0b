"""Code blocks of Markdown pages, and how the tests treat them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<language>[\w-]*)")
_MARK = re.compile(r"<!-- test: (?P<what>skip|output)(?: (?P<reason>.+?))? -->")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, first line (1-based), and the mark on the line before it."""

    language: str
    text: str
    line: int
    mark: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Command:
    """A command of a console block, without its prompt, and the output shown for it."""

    line: str
    shown: str


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page. Raises ValueError for one that is not closed, or skipped without a reason."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if not fence:
            at += 1
            continue
        closing = fence["indent"] + fence["ticks"]
        end = next((n for n in range(at + 1, len(lines)) if lines[n].rstrip() == closing), None)
        if end is None:
            raise ValueError(f"{page.name}:{at + 1}: this block is not closed")
        mark = _MARK.search(lines[at - 1]) if at else None
        if mark and mark["what"] == "skip" and not mark["reason"]:
            raise ValueError(f"{page.name}:{at}: a skipped block needs a reason")
        text = "\n".join(line.removeprefix(fence["indent"]) for line in lines[at + 1 : end])
        found.append(
            Block(fence["language"], text, at + 1, mark["what"] if mark else "", (mark["reason"] or "") if mark else "")
        )
        at = end + 1
    return found


def commands(block: Block) -> list[Command]:
    """The commands after `$ ` of a console block; a backslash at the end continues one."""
    found: list[tuple[str, list[str]]] = []
    continued = False
    for line in block.text.splitlines():
        if continued:
            found[-1] = (found[-1][0] + "\n" + line, [])
        elif line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
        continued = found != [] and found[-1][1] == [] and found[-1][0].endswith("\\")
    return [Command(line, "\n".join(shown)) for line, shown in found]


def matches(shown: str, printed: str) -> bool:
    """Whether what was printed is what a page shows, where `...` stands for any text."""
    wanted, got = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (shown, printed))
    return re.fullmatch(".*?".join(re.escape(part) for part in wanted.split("...")), got, re.DOTALL) is not None
