"""Names of tables and columns as a model writes them: what is nearly right is put right."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz

from bmsql.errors import PlanError
from bmsql.semantic import SemanticModel
from bmsql.types import SelectItem

# A name this like another is that one, misspelt.
_LIKENESS = 88


class Names:
    """The names of one plan: `alias` gives the alias of each of its tables.

    tables: all that there are. joined: columns belong to one source each. by_items: entities in lists are
    taken apart, for distinct and grouped results.
    """

    def __init__(
        self, model: SemanticModel, tables: Sequence[str], alias: dict[str, str], *, joined: bool, by_items: bool
    ) -> None:
        self.model, self.tables, self.alias = model, tables, alias
        self.joined, self.by_items = joined, by_items

    def item(self, text: str) -> SelectItem:
        """An output column. Raises PlanError for a name that nothing is like."""
        name, source = self.name(text)
        return SelectItem(column=name, source=source)

    def name(self, text: str, table: str = "") -> tuple[str, str]:
        """A column, role or entity, and the alias of its source where only one has it."""
        parts = [part.strip("` ") for part in text.strip().split(".")]
        sources = list(self.alias)
        if len(parts) > 1 and not self._has_role(text.strip()):
            table, parts = table or ".".join(parts[:-1]), parts[-1:]
        if table:
            sources = [self.source(table)]
        name = text.strip() if self._has_role(text.strip()) else parts[-1]
        holding = [source for source in sources if self._has(source, name)]
        if not holding:
            known = [
                column for source in sources for column in (*self.model.tables[source].columns, *self._own(source))
            ]
            name = nearest(name, known, "column")
            holding = [source for source in sources if self._has(source, name)]
        name = self._shown(holding[0], name)
        if not self.joined:
            return name, ""
        return name, self.alias[holding[0]]

    def source(self, text: str) -> str:
        """The table of the plan that a name or an alias means. Raises PlanError where there is none."""
        for table, alias in self.alias.items():
            if text == alias:
                return table
        table = table_like(text, self.tables)
        if table not in self.alias:
            raise PlanError(f"the plan uses {table}, which is not among its tables.")
        return table

    def _has_role(self, text: str) -> bool:
        return self.model.role(text) is not None or any(
            text in self.model.family_of(table).derived for table in self.alias
        )

    def _own(self, table: str) -> list[str]:
        """The entities and derived columns of a table's family."""
        family = self.model.tables[table].family
        return [
            *(name for name, entity in self.model.entities.items() if family in entity.match),
            *self.model.families[family].derived,
        ]

    def _has(self, table: str, name: str) -> bool:
        columns = {column.lower() for column in self.model.tables[table].columns}
        return name.lower() in columns or name in self.model.tables[table].column_by_role or name in self._own(table)

    def _shown(self, table: str, name: str) -> str:
        """The role of a plain column, which holds for all tables of a family; else the name itself."""
        if name in self.model.entities:
            recipe = self.model.entities[name].match.get(self.model.tables[table].family)
            shown = recipe.shown if recipe else ""
            return name if self.by_items or not self.model.column(table, shown) else shown
        return self.model.role_of(table, name) or name


def table_like(name: str, tables: Sequence[str]) -> str:
    """The table of a name as a model writes it. Raises PlanError where there is none like it."""
    return nearest(name.strip().strip("`").rpartition(".")[2], tables, "table")


def aliases(tables: Sequence[str], model: SemanticModel) -> dict[str, str]:
    """An alias for each table: the first letter of its family, numbered where there are several."""
    letters = [model.tables[table].family[0] for table in tables]
    return {
        table: letter if letters.count(letter) == 1 else f"{letter}{letters[:place].count(letter) + 1}"
        for place, (table, letter) in enumerate(zip(tables, letters, strict=True))
    }


def nearest(name: str, known: Sequence[str], kind: str) -> str:
    """The known name that `name` is, but for case and small slips. Raises PlanError where there is none."""
    low = name.lower()
    for one in known:
        if one.lower() == low:
            return one
    likeness, best = max(((fuzz.ratio(low, one.lower()), one) for one in known), default=(0.0, ""))
    if likeness < _LIKENESS:
        raise PlanError(f"there is no {kind} '{name}'.{f' The nearest is {best}.' if best else ''}")
    return best
