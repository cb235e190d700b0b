"""Checks of spelling that a tree no longer shows: clause order and constructs of other systems."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bmsql.sql._fixes import find_word, text, upper
from bmsql.sql._foreign import foreign_clauses, foreign_operators
from bmsql.sql._parts import INTERVAL_PARTS
from bmsql.sql._source import Source
from bmsql.sql._types import TYPES
from bmsql.types import Problem

_RANK = {"SELECT": 0, "FROM": 1, "WHERE": 2, "GROUP": 3, "HAVING": 4, "QUALIFY": 5, "ORDER": 7, "LIMIT": 8, "OFFSET": 9}
_ORDER = "SELECT, FROM, WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY, LIMIT, OFFSET"
_AFTER_LIST = frozenset(("WHERE", "GROUP", "HAVING", "QUALIFY", "ORDER", "LIMIT", "UNION", "INTERSECT"))


def clause_order(source: Source) -> Iterator[Problem]:
    """`LIMIT 10 ORDER BY a` -> `ORDER BY a LIMIT 10`."""
    tokens = source.tokens
    stack: list[tuple[int, str] | None] = []
    state: tuple[int, str] | None = (-1, "")
    for index, token in enumerate(tokens):
        if (
            token.upper == "FROM"
            and index
            and (tokens[index - 1].text == "(" or state == (-1, ""))
            and _is_clause(source, index)
        ):
            yield source.problem_on(token, "clause-order", "FROM stands before SELECT.", "Begin with SELECT.")
            return
        if token.text == "(":
            stack.append(state)
            following = tokens[index + 1] if index + 1 < len(tokens) else None
            state = (
                (-1, "")
                if following is not None and (following.upper in ("SELECT", "WITH") or following.text == "(")
                else None
            )
        elif token.text == ")":
            state = stack.pop() if stack else (-1, "")
        elif state is None or token.kind != "word":
            continue
        elif token.upper in ("UNION", "INTERSECT") or (
            token.upper == "EXCEPT" and tokens[index - 1].text not in ("*", ".")
        ):
            state = (-1, "")
        elif token.upper in _RANK and _is_clause(source, index):
            rank = _RANK[token.upper]
            if rank <= state[0] and not (rank == state[0] == 9):
                what = f"{token.upper} stands twice" if rank == state[0] else f"{token.upper} stands after {state[1]}"
                yield source.problem_on(token, "clause-order", f"{what}.", f"The order of clauses is {_ORDER}.")
                return
            state = (rank, token.upper)


def _is_clause(source: Source, index: int) -> bool:
    tokens = source.tokens
    word = tokens[index].upper
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if before is not None and (before.text == "." or before.upper == "AS"):
        return False
    if word in ("GROUP", "ORDER"):
        return after is not None and after.upper == "BY"
    if word == "FROM":
        return before is None or before.upper != "DISTINCT" or index < 2 or tokens[index - 2].upper not in ("IS", "NOT")
    if word == "OFFSET":
        return after is not None and after.kind == "number" and (before is None or before.upper != "WITH")
    return True


def interval_part(source: Source) -> Iterator[Problem]:
    """`INTERVAL '1 foo'`, `INTERVAL 7`: a part is missing."""
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.upper != "INTERVAL" or index + 1 >= len(tokens) or tokens[index + 1].kind not in ("string", "number"):
            continue
        part = tokens[index + 2].upper if index + 2 < len(tokens) else ""
        if part not in INTERVAL_PARTS:
            shown = f"{part} is no part of an INTERVAL" if part else "The INTERVAL has no part"
            yield source.problem_on(token, "interval", f"{shown}.", "Write INTERVAL 7 DAY.", last=tokens[index + 1])


def mixed_set_operations(source: Source) -> Iterator[Problem]:
    """`a UNION ALL b INTERSECT DISTINCT c`: BigQuery wants parentheses."""
    tokens = source.tokens
    stack: list[tuple[str, str] | None] = []
    last: tuple[str, str] | None = None
    for index, token in enumerate(tokens):
        if token.text == "(":
            stack.append(last)
            last = None
        elif token.text == ")":
            last = stack.pop() if stack else None
        elif token.upper in ("UNION", "INTERSECT", "EXCEPT") and index and tokens[index - 1].text not in ("*", "."):
            found = (token.upper, upper(source, index + 1))
            if last is not None and found != last:
                message = "Different set operations stand side by side."
                yield source.problem_on(token, "set-operation-mix", message, "Put one of them in parentheses.")
            last = found


def stray_commas(source: Source) -> Iterator[Problem]:
    """`SELECT a,, b`, `FROM t, WHERE`, `IN (1, )`: something is missing."""
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.text == ",":
            following = tokens[index + 1] if index + 1 < len(tokens) else None
            if following is None or following.text in (",", ")", "]") or following.upper in _AFTER_LIST:
                yield source.problem_on(token, "syntax", "Something is missing after this comma.", "Remove the comma.")
        elif token.upper == "SELECT" and _is_empty_list(source, index + 1):
            yield source.problem_on(token, "syntax", "The SELECT list is empty.", "Name the columns, or write *.")
        elif token.upper == "AS" and index + 1 < len(tokens) and tokens[index + 1].kind == "number":
            yield source.problem_on(
                token, "syntax", "An alias cannot be a number.", "Use a name.", last=tokens[index + 1]
            )


def _is_empty_list(source: Source, index: int) -> bool:
    """Whether nothing stands between SELECT, before `index`, and the next clause or the end."""
    if upper(source, index) in ("ALL", "DISTINCT"):
        index += 1
    if index >= len(source.tokens):
        return True
    return source.tokens[index].text in (")", ";") or source.tokens[index].upper in ("FROM", *_AFTER_LIST)


def casts_and_parts(source: Source) -> Iterator[Problem]:
    """`CAST(x AS NUMBER)`, `EXTRACT(YEAR, d)`, `EXTRACT('YEAR' FROM d)`."""
    tokens = source.tokens
    for index, token in enumerate(tokens):
        closing = source.partners.get(index + 1)
        if closing is None or token.upper not in ("CAST", "SAFE_CAST", "EXTRACT") or tokens[index + 1].text != "(":
            continue
        word = "FROM" if token.upper == "EXTRACT" else "AS"
        at = find_word(source, word, index + 2, closing)
        if token.upper == "EXTRACT":
            if at is None or tokens[index + 2].kind != "word":
                yield source.problem_on(
                    token,
                    "extract",
                    "EXTRACT is written EXTRACT(part FROM date).",
                    "Write EXTRACT(YEAR FROM d).",
                    last=tokens[closing],
                )
        elif at is None:
            yield source.problem_on(
                token,
                "cast",
                f"{token.upper} is written {token.upper}(x AS type).",
                "Write CAST(x AS STRING).",
                last=tokens[closing],
            )
        elif tokens[at + 1].upper not in TYPES:
            named = tokens[at + 1].text
            yield source.problem_on(
                tokens[at + 1],
                "unknown-type",
                f"{named} is no type of BigQuery.",
                "Use STRING, INT64, FLOAT64, NUMERIC, BOOL, DATE or TIMESTAMP.",
            )


def order_directions(source: Source) -> Iterator[Problem]:
    """`ORDER BY a ASC DESC`, which the parser reads as DESC."""
    for index, token in enumerate(source.tokens):
        if token.upper in ("ASC", "DESC") and upper(source, index + 1) in ("ASC", "DESC"):
            message = f"{token.upper} and {upper(source, index + 1)} stand side by side."
            yield source.problem_on(token, "syntax", message, "Keep one of them.")


def using_list(source: Source) -> Iterator[Problem]:
    """`JOIN b USING snp`, which the parser reads as USING (snp)."""
    for index, token in enumerate(source.tokens):
        if token.upper == "USING" and token.kind == "word" and text(source, index + 1) not in ("(", ""):
            message = "The columns of USING stand in parentheses."
            hint = f"Write USING ({text(source, index + 1)})."
            yield source.problem_on(token, "syntax", message, hint, last=source.tokens[index + 1])


CHECKS: tuple[Callable[[Source], Iterator[Problem]], ...] = (
    clause_order,
    foreign_operators,
    foreign_clauses,
    interval_part,
    mixed_set_operations,
    stray_commas,
    casts_and_parts,
    order_directions,
    using_list,
)


def dialect_problems(source: Source) -> list[Problem]:
    """What the text has that BigQuery does not."""
    return [problem for check in CHECKS for problem in check(source)]
