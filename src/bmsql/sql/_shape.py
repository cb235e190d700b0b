"""The shape of a query: its text without the strings that columns are compared with.

A batch asks the same of one gene, drug or SNP after the other, and its queries differ in nothing else. What the
strings are decides nothing about such a text: neither whether it is valid, nor how it is parsed and translated. So
all of that is found out once for each shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

from bmsql.sql._lexer import LexError, Token, tokenize
from bmsql.sql._recent import Recent
from bmsql.types import Catalog

T = TypeVar("T")

# Strings of these are read alike by everybody who reads SQL: no quotes, no escapes, no wildcards.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:;()+/-")
_EQUAL = frozenset(("=", "!=", "<>"))
_OF_TEXT = frozenset(("LOWER", "UPPER", "TRIM"))
# What ends a comparison: nothing after it binds to the string.
_ENDS = frozenset("""
    ) , AND OR THEN ELSE END WHEN GROUP ORDER LIMIT HAVING QUALIFY WINDOW WHERE UNION INTERSECT EXCEPT JOIN INNER LEFT
    RIGHT FULL CROSS
""".split())  # fmt: skip
# What stands before a name that is used. Before a name that is given stands what it is given to, or AS.
_BEFORE_USE = frozenset("""
    . ( , = != <> < <= > >= || + - * / SELECT DISTINCT WHERE AND OR NOT ON BY HAVING QUALIFY WHEN THEN ELSE CASE LIKE
    BETWEEN
""".split())  # fmt: skip
# With these, a field or an element may have a column's name and another type.
_BEYOND = frozenset("[ { @ @@ ? STRUCT ARRAY UNNEST PIVOT UNPIVOT RECURSIVE".split())
# Escapes that give no letter, digit or sign of a plain string.
_QUOTE_ESCAPES = ("\\\\", "\\'", '\\"')
# Longer texts are few, and rarely alike.
_LONGEST = 4_000
_MARK, _MARK_END = "bmsql:value ", ";"
_KEPT = 512


class Pieces(NamedTuple):
    """A text with holes, each inside of a string: behind `parts[n]` belongs the value at `order[n]`."""

    parts: tuple[str, ...]
    order: tuple[int, ...]

    def filled(self, values: Sequence[str]) -> str:
        """The text with these values."""
        made = [self.parts[0]]
        for place, part in zip(self.order, self.parts[1:], strict=True):
            made += (values[place], part)
        return "".join(made)


class Shape(NamedTuple):
    """A text taken apart into `pieces` and `values`, each value once.

    The pieces are equal for texts that differ in their values only, not even in a space: `> >` is not `>>`. Where two
    holes hold the same value, they do in both.
    """

    values: tuple[str, ...]
    pieces: Pieces

    @property
    def marked(self) -> str:
        """The text with a mark in the place of each value."""
        return self.pieces.filled([f"{_MARK}{place}{_MARK_END}" for place in range(len(self.values))])

    def unmarked(self, text: str) -> str:
        """A string of a marked text, with the values in the place of the marks."""
        if not has_mark(text):
            return text
        before, _, rest = text.partition(_MARK)
        place, _, after = rest.partition(_MARK_END)
        return f"{before}{self.values[int(place)]}{after}"


def has_mark(text: str) -> bool:
    """Whether a value stood in what a text was made of."""
    return _MARK in text


def pieces_of(text: str, values: int) -> Pieces | None:
    """What was made of a marked text, taken apart again; None where one of its marks is not there, or changed."""
    first, *rest = text.split(_MARK)
    parts, order = [first], []
    for piece in rest:
        place, end, part = piece.partition(_MARK_END)
        if not end or not place.isdigit() or not parts[-1].endswith(("'", "'%")) or not part.startswith(("'", "%'")):
            return None
        order.append(int(place))
        parts.append(part)
    return Pieces(tuple(parts), tuple(order)) if set(order) == set(range(values)) else None


@lru_cache(maxsize=_KEPT)
def shape_of(text: str, columns: frozenset[str] | None = None) -> Shape | None:
    """The shape of a text; None where it has no string that can be taken out.

    columns: the names, in upper case, of columns that hold text wherever they occur: only strings that are compared
    with these are taken out. None for any column: that is enough for what depends on the syntax only.
    """
    if len(text) > _LONGEST or has_mark(text):
        return None
    try:
        tokens = tokenize(text)
    except LexError:
        return None
    if any(token.kind in ("comment", "param") or (token.upper or token.text) in _BEYOND for token in tokens):
        return None
    compared = list(_compared(tokens))
    if columns is not None and compared:
        known = columns - _named(tokens)
        compared = [(token, column) for token, column in compared if column in known]
    if not compared or not _stand_alone(tokens, [token for token, _ in compared]):
        return None
    places: dict[str, int] = {}
    order, pieces, done = [], [], 0
    for token, _ in compared:
        value = token.text[1:-1].strip("%")
        order.append(places.setdefault(value, len(places)))
        at = token.start + token.text.index(value)
        pieces.append(text[done:at])
        done = at + len(value)
    pieces.append(text[done:])
    return Shape(tuple(places), Pieces(tuple(pieces), tuple(order)))


def text_columns(catalog: Catalog) -> frozenset[str]:
    """The names, in upper case, that every table with such a column has as text."""
    kinds: dict[str, set[str]] = {}
    for table in catalog.tables:
        for column in (*table.columns, *table.hidden):
            kinds.setdefault(column.name.upper(), set()).add(column.type)
    return frozenset(name for name, types in kinds.items() if types == {"STRING"})


def _compared(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Each plain string that a column is compared with, and the column's name in upper case."""
    listed = ""
    ends = [token.upper or token.text for token in tokens]
    for place, (token, before, after) in enumerate(zip(tokens[1:], ends, [*ends[2:], ")"], strict=False), start=1):
        if token.text in ("(", ")"):
            listed = _column(tokens, _subject(ends, place - 1)) if token.text == "(" and before == "IN" else ""
        elif token.kind != "string" or not _is_plain(token.text, pattern=before == "LIKE"):
            continue
        elif listed and before in ("(", ",") and after in (",", ")"):
            yield token, listed
        elif (before == "LIKE" or before in _EQUAL) and after in _ENDS:
            column = _column(tokens, _subject(ends, place - 1))
            if column:
                yield token, column


def _stand_alone(tokens: Sequence[Token], compared: Sequence[Token]) -> bool:
    """Whether no other string of the text equals one of these, which may decide what is grouped, or spells a mark."""
    taken = {token.start: token.text[1:-1] for token in compared}
    values = set(taken.values())
    for token in tokens:
        if token.kind != "string" or token.start in taken:
            continue
        literal = token.text.lstrip("rR")
        width = 3 if literal.startswith(('"""', "'''")) else 1
        content = literal[width:-width]
        if literal == token.text:  # not a raw one
            for escape in _QUOTE_ESCAPES:
                content = content.replace(escape, "'")
            if "\\" in content:
                return False
        if content in values:
            return False
    return True


def _subject(ends: Sequence[str], operator: int) -> int:
    """Where what stands before an operator ends, and before a NOT that belongs to it."""
    return operator - (2 if operator and ends[operator - 1] == "NOT" else 1)


def _is_plain(literal: str, *, pattern: bool) -> bool:
    value = literal[1:-1]
    if pattern:
        value = value.removeprefix("%").removesuffix("%")
    return literal[0] == "'" and value != "" and _PLAIN.issuperset(value)


def _column(tokens: Sequence[Token], end: int) -> str:
    """The column that ends at a token, or that a call which keeps it text ends with; "" where there is none."""
    if end < 0:
        return ""
    if tokens[end].kind == "word":
        return tokens[end].upper
    begin = end - 1
    if tokens[end].text != ")" or begin < 2 or tokens[begin].kind != "word":
        return ""
    name = tokens[begin].upper
    while begin >= 2 and tokens[begin - 1].text == ".":
        begin -= 2
    called = tokens[begin - 2] if begin >= 2 and tokens[begin - 1].text == "(" else None
    return name if called is not None and called.upper in _OF_TEXT else ""


def _named(tokens: Sequence[Token]) -> frozenset[str]:
    """The names, in upper case, that the text gives, or may give: to a column, a table or a subquery."""
    found = set()
    for place, token in enumerate(tokens):
        if token.kind not in ("word", "quoted"):
            continue
        before = tokens[place - 1] if place else None
        used = before is not None and (before.upper or before.text) in _BEFORE_USE
        opened = place + 2 < len(tokens) and tokens[place + 1].upper == "AS" and tokens[place + 2].text == "("
        if not used or opened:
            found.add(token.upper or token.text[1:-1].upper())
    return frozenset(found)


class ByShape(Generic[T]):
    """What was found out about the shapes seen last; safe in threads.

    catalog: whose columns say which strings may be taken out; see `shape_of`.
    """

    def __init__(self, catalog: Catalog | None = None, kept: int = _KEPT) -> None:
        self.catalog = catalog
        self._columns = text_columns(catalog) if catalog is not None else None
        self._known: Recent[Pieces, T] = Recent(kept)

    def shape(self, text: str) -> Shape | None:
        """The shape of a text."""
        return shape_of(text, self._columns)

    def get(self, shape: Shape) -> T | None:
        """What is known of a shape."""
        return self._known.get(shape.pieces)

    def put(self, shape: Shape, found: T) -> None:
        """Remember it."""
        self._known.put(shape.pieces, found)
