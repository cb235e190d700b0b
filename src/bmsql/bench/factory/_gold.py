"""Gold queries: placeholders of a template replaced by columns, recipes and literals of one knowledge base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from bmsql.bench.factory._templates import PLACEHOLDER, Profile, Template, TemplateBook
from bmsql.errors import ConfigurationError, PlanError
from bmsql.planning import Bound, condition, literal
from bmsql.semantic import SemanticModel
from bmsql.types import Filter, Scalar, Source

_CALL_END = ")"


@dataclass(frozen=True)
class Drawn:
    """What a slot was filled with: the stored values that gold looks for, and how the question says it.

    entity is empty for plain values; `many` is the plural, where one is known.
    """

    values: tuple[Scalar, ...]
    say: str
    entity: str = ""
    many: str = ""


Slots = Mapping[str, Drawn]
Tables = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Filling:
    """Replaces the placeholders of one template.

    `{alias}` is a table in FROM, `{alias.role}` a column or a derived column, `{match(alias, slot)}` the
    condition that an entity is matched by, `{fragment(alias)}` a named condition of the book, and
    `{slot}` a literal.
    """

    book: TemplateBook
    model: SemanticModel
    template: Template
    profile: Profile

    def gold(self, slots: Slots, tables: Tables) -> str:
        """The gold query in the BigQuery dialect, with tables by their bare names.

        tables: by alias; of several tables the one that is asked of each is asked of all, by UNION ALL.
        Raises ConfigurationError for a placeholder without meaning.
        """
        body = self.template.gold[self.profile]
        chosen = {alias: names[0] for alias, names in tables.items()}
        each = self.template.each
        if not each:
            return self.text(body, chosen, slots)
        return " UNION ALL ".join(self.text(body, chosen | {each: table}, slots) for table in tables[each])

    def text(self, text: str, tables: Mapping[str, str], slots: Slots | None = None) -> str:
        """A text with its placeholders replaced, each source standing for one table."""
        return PLACEHOLDER.sub(lambda match: self._one(match.group(1).strip(), tables, slots or {}), text)

    def role(self, alias: str, role: str, tables: Mapping[str, str]) -> str:
        """The SQL of a role of a source."""
        bound = self._bound(alias, tables)
        family = self.template.bound_sources[alias].family
        try:
            tree = bound.expression(f"{family}.{role}")
        except PlanError as e:
            raise self._wrong(e.message) from e
        return tree.sql("bigquery") if isinstance(tree, exp.Column) else f"({tree.sql('bigquery')})"

    def _one(self, name: str, tables: Mapping[str, str], slots: Slots) -> str:
        if name.endswith(_CALL_END):
            function, _, rest = name[:-1].partition("(")
            return self._call(function.strip(), [part.strip() for part in rest.split(",")], tables, slots)
        alias, _, role = name.partition(".")
        if role:
            return self.role(alias, role, tables)
        if name in tables:
            return f"`{tables[name]}` AS {name}"
        if name in slots:
            return literal(slots[name].values[0]).sql("bigquery")
        raise self._wrong(f"there is no source, slot or fragment {name!r}")

    def _call(self, function: str, given: Sequence[str], tables: Mapping[str, str], slots: Slots) -> str:
        if function == "match":
            return self._match(given[0], given[-1], tables, slots)
        fragment = self.book.fragments.get(function)
        if fragment is None:
            raise self._wrong(f"there is no fragment {function!r}")
        text = fragment if isinstance(fragment, str) else fragment[self.profile]
        named = dict(zip("xyz", given, strict=False))
        renamed = PLACEHOLDER.sub(lambda match: "{" + _renamed(match.group(1), named) + "}", text)
        return self.text(renamed, tables, slots)

    def _match(self, alias: str, slot: str, tables: Mapping[str, str], slots: Slots) -> str:
        if slot not in slots:
            raise self._wrong(f"there is no slot {slot!r}")
        drawn = slots[slot]
        bound = self._bound(alias, tables)
        test = Filter(target=drawn.entity, op="match", values=drawn.values)
        try:
            tree = condition(bound, test, exp.to_table(tables[alias]))
        except PlanError as e:
            raise self._wrong(e.message) from e
        return (exp.paren(tree) if isinstance(tree, exp.Or) else tree).sql("bigquery")

    def _bound(self, alias: str, tables: Mapping[str, str]) -> Bound:
        if alias not in tables:
            raise self._wrong(f"there is no source {alias!r}")
        table = tables[alias]
        spec = self.model.tables[table]
        return Bound(Source(alias=alias, table=table), spec, self.model.family_of(table), self.model, qualifier=alias)

    def _wrong(self, message: str) -> ConfigurationError:
        return ConfigurationError(f"template {self.template.id}: {message.rstrip('.')}.")


def _renamed(name: str, aliases: Mapping[str, str]) -> str:
    head, dot, rest = name.partition(".")
    return aliases.get(head, head) + dot + rest
