"""Where the commands write: a console that fits the terminal, or plain text when piped."""

from __future__ import annotations

import json
import sys
from typing import Any, Self

from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text as RichText

from bmsql.types import visible

# Piped text is read by programs and pagers, which wrap or not as they like.
PIPED_WIDTH = 10_000


# Control characters that JSON leaves as they are.
_BARE = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


class Text(RichText):
    """A text to print, its control characters written out: a terminal would obey them."""

    def __init__(self, text: str = "", style: str | Style = "", **more: Any) -> None:
        super().__init__(visible(text), style, **more)

    def append(self, text: RichText | str, style: str | Style | None = None) -> Self:
        """Add a text at the end."""
        super().append(visible(text) if isinstance(text, str) else text, style)
        return self


def console() -> Console:
    """A console on standard output; NO_COLOR and COLUMNS are honoured."""
    plain = Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if plain.is_terminal:
        return plain
    return Console(
        file=sys.stdout,
        highlight=False,
        markup=False,
        emoji=False,
        width=PIPED_WIDTH,
        force_terminal=False,
        no_color=True,
    )


def write_json(document: Any) -> None:
    """One JSON document and nothing else on standard output."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(document, ensure_ascii=not unicode, allow_nan=False, indent=2)
    sys.stdout.write(text.translate(_BARE) + "\n")


def write_text(text: str) -> None:
    """A text as it is on standard output."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def heading(to: Console, title: str) -> None:
    """A heading after an empty line."""
    to.print()
    to.print(Text(title, style="bold"))


def ascii_only(to: Console) -> bool:
    """True when the output cannot show more than ASCII."""
    return to.options.ascii_only


def show_sql(to: Console, sql: str) -> None:
    """SQL, highlighted on a colour terminal; its lines are left whole, so that it can be copied."""
    text: RichText = Text(sql)
    if to.is_terminal and to.color_system is not None and not to.no_color:
        from rich.syntax import Syntax

        text = Syntax("", "sql", theme="ansi_dark", background_color="default").highlight(visible(sql))
        text.rstrip()
    to.print(text, soft_wrap=True)


def show_table(to: Console, table: Table) -> None:
    """A table; piped, without the blanks that fill its last column."""
    if to.is_terminal:
        to.print(table)
        return
    with to.capture() as captured:
        to.print(table)
    write_text("\n".join(line.rstrip() for line in captured.get().splitlines()))


def indented(to: Console, text: str, by: int = 2) -> None:
    """A text whose every line stands a little to the right."""
    to.print(Padding(Text(text), (0, 0, 0, by), expand=False))
