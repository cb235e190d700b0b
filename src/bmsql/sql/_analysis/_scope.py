"""What names mean in one SELECT: its FROM items, its aliases, and the scopes around it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sqlglot import exp

from bmsql.sql._types import STRUCT, UNKNOWN, Type


class Column(NamedTuple):
    """A column of a FROM item or of a query's result; name "" when it has none."""

    name: str
    type: Type
    literal: bool = False


class Relation:
    """A FROM item. `columns` is None when they are not known: then every name is believed."""

    def __init__(
        self,
        name: str,
        columns: tuple[Column, ...] | None,
        *,
        hidden: str = "",
        full: str = "",
        value: Type | None = None,
        unnest: bool = False,
        unlisted: tuple[Column, ...] = (),
    ) -> None:
        self.name = name
        self.folded = name.lower()
        self.columns = columns
        # The table's own name where an alias hides it, and its full name: to explain and repair.
        self.hidden = hidden
        self.full = full
        # The type of the name itself where it stands for a value: an UNNEST alias.
        self.value = value
        self.unnest = unnest
        # Columns that can be named, but that a star leaves out: `_TABLE_SUFFIX`.
        self.unlisted = unlisted

    def find(self, name: str) -> list[Column]:
        """Columns of that (lower-case) name; several when the item has them twice."""
        if self.columns is None:
            return []
        found = [column for column in self.columns if column.name.lower() == name]
        return found or [column for column in self.unlisted if column.name.lower() == name]

    def row_type(self) -> Type:
        """The type of the item's name used as a value."""
        if self.value is not None:
            return self.value
        if self.columns is None:
            return UNKNOWN
        return Type(STRUCT, fields=tuple((column.name, column.type) for column in self.columns))


class Resolution(NamedTuple):
    """What a path means: its type, a key that is the same for the same thing, and whose it is.

    `rest` counts the parts of the path that are fields of what was found.
    """

    type: Type
    key: tuple[str, ...]
    scope: Scope | None
    relation: Relation | None = None
    alias: bool = False
    rest: int = 0


class Scope:
    """The names visible in one SELECT."""

    def __init__(self, parent: Scope | None, ctes: dict[str, tuple[Column, ...] | None]) -> None:
        self.parent = parent
        self.ctes = ctes
        self.relations: list[Relation] = []
        self.merged: dict[str, Type] = {}
        self.windows: dict[str, exp.Expr] = {}
        # Lower-case alias of the SELECT list -> type; None while the list is not typed yet.
        self.aliases: dict[str, Type | None] = {}
        self.aggregated = False
        self.grouped = False

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def relation(self, name: str) -> Relation | None:
        """The FROM item of that (lower-case) name."""
        return next((relation for relation in self.relations if relation.folded == name), None)

    @property
    def opaque(self) -> bool:
        """Whether some FROM item's columns are not known."""
        return any(relation.columns is None for relation in self.relations)

    def column_names(self) -> list[str]:
        """All column names of the FROM items, for suggestions."""
        return [c.name for relation in self.relations for c in relation.columns or () if c.name]
