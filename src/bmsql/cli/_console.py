"""Where the commands write: a console that fits the terminal, or plain text when piped."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.text import Text

# Piped text is read by programs and pagers, which wrap or not as they like.
PIPED_WIDTH = 10_000


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
    sys.stdout.write(json.dumps(document, ensure_ascii=not unicode, allow_nan=False, indent=2) + "\n")


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
    """SQL, highlighted on a colour terminal, else as it is, never broken inside a line."""
    if to.is_terminal and to.color_system is not None:
        from rich.syntax import Syntax

        to.print(Syntax(sql, "sql", theme="ansi_dark", background_color="default", word_wrap=True))
    else:
        to.print(Text(sql), soft_wrap=True)
