"""What an answer may say: the numbers and texts of the question, the rows, the counts, the plan and the rules."""

from __future__ import annotations

import datetime as dt
import decimal
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from bmsql.reasoners._base import Evidence
from bmsql.reasoners.chat._figures import figures
from bmsql.reasoners.chat._units import RULE, UNKNOWN, Units
from bmsql.semantic import SemanticModel, Table
from bmsql.types import QueryResult

_DIGITS = re.compile(r"(?<![A-Za-z_\d.])\d+(?:,\d{3})*(?:\.\d+)?")
_NO_WORD = re.compile(r"[^a-z0-9α-ω]+")
_LISTED = re.compile(r"[;,|]\s*")
_COUNTED_ROWS = 200


@dataclass(frozen=True)
class Quantity:
    """A number that may be said. `unit` is its column's; empty where it is not of a column."""

    value: float
    unit: str = ""


@lru_cache(maxsize=32768)
def words_of(text: str) -> str:
    """`text` without case, accents and punctuation, as words between single spaces, one at each end."""
    folded = text.casefold()
    if not text.isascii():
        folded = unicodedata.normalize("NFKD", text).casefold()
        folded = "".join(char for char in folded if not unicodedata.combining(char))
    folded = folded.replace("'s ", " ").replace("’s ", " ")
    return f" {_NO_WORD.sub(' ', folded).strip()} "


@dataclass
class Known:
    """Everything that the evidence of one answer holds."""

    evidence: Evidence
    model: SemanticModel | None = None
    units: Units = field(init=False)

    def __post_init__(self) -> None:
        self.units = Units(self.model, self.tables)

    # -- what the rows are ----------------------------------------------------------------------

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The tables that the rows come from."""
        planned = [source.table for source in self.evidence.plan.sources]
        named = [name for name in self.model.tables if name in self.evidence.sql] if self.model else []
        return tuple(dict.fromkeys([*planned, *named]))

    @cached_property
    def table_specs(self) -> tuple[Table, ...]:
        """Those of them that the model describes."""
        return tuple(self.model.tables[name] for name in self.tables if name in self.model.tables) if self.model else ()

    @property
    def shown(self) -> int:
        """How many rows there are to speak of."""
        return len(self.evidence.result.rows)

    @property
    def incomplete(self) -> bool:
        """Whether there are more rows than are shown."""
        total = self.evidence.total
        return self.evidence.result.truncated or (total is not None and total > self.shown)

    @property
    def nothing(self) -> bool:
        """Whether no row was found, or a single count of 0."""
        if self.evidence.hidden:
            return not self.evidence.total
        rows = self.evidence.result.rows
        counted = self.evidence.plan.aggregate is not None and len(rows) == 1
        return not rows or (counted and all(cell == 0 for cell in rows[0]))

    # -- numbers --------------------------------------------------------------------------------

    @cached_property
    def quantities(self) -> list[Quantity]:
        """Every number of the evidence, and what follows from those of the rows by their unit, each once."""
        found: dict[Quantity, None] = {}
        for text in self._asked():
            found.update((Quantity(value), None) for value in _numbers_in(text))
        for text in self._stated():
            found.update((Quantity(value, RULE), None) for value in _numbers_in(text))
        for result in self._results():
            for column, unit in zip(zip(*result.rows, strict=True), self.units.of(result), strict=False):
                for cell in dict.fromkeys(_hashable(cell) for cell in column):
                    found.update((quantity, None) for quantity in _quantities(cell, unit))
                    found.update((Quantity(value, of), None) for value, of in self.units.derived(cell, unit))
        return [*found]

    @cached_property
    def counts(self) -> frozenset[int]:
        """Numbers of rows: shown, in total, and by rule; and of the values of a filter."""
        evidence = self.evidence
        found = {evidence.total, self.shown, evidence.plan.limit}
        if evidence.general is not None:
            found.add(len(evidence.general.rows))
        for record in evidence.conventions:
            found |= {record.rows_with, record.rows_without}
        found |= {len(one.values) for one in evidence.plan.filters if len(one.values) > 1}
        return frozenset(count for count in found if count is not None)

    @cached_property
    def differences(self) -> frozenset[int]:
        """How many rows more there are without a rule, or than another count."""
        return frozenset(one - other for one in self.counts for other in self.counts if one > other)

    @cached_property
    def nouns(self) -> dict[str, frozenset[str]]:
        """By entity of the model, the single words for it, in lower case."""
        entities = self.model.entities if self.model else {}
        return {
            name: frozenset(phrase.lower() for phrase in (spec.label, spec.plural, *spec.nouns) if phrase.isalpha())
            for name, spec in entities.items()
        }

    def left_after(self, words: str) -> set[int]:
        """How many there are beside those that some words name: of the rows, and of the items of each list."""
        rows = self.evidence.result.rows[:_COUNTED_ROWS]
        left: set[int] = set()
        for column in zip(*rows, strict=True):
            texts = {cell for cell in column if isinstance(cell, str)}
            named = sum(words_of(text) in words for text in texts)
            if named:
                wholes = self.counts.union({len(texts)}, *self.groups.values())
                left |= {whole - named for whole in wholes}
            for text in texts:
                items = {words_of(item.partition(" (")[0]) for item in _LISTED.split(text)}
                found = sum(item in words for item in items)
                if found and len(items) > 1:
                    left.add(len(items) - found)
        return left

    @cached_property
    def column_counts(self) -> dict[str, frozenset[int]]:
        """By column, how many different values and how many items of lists there are, and how many are missing."""
        found: dict[str, frozenset[int]] = {}
        for result in self._results():
            for name, column in zip(result.names(), zip(*result.rows, strict=True), strict=False):
                found[name.lower()] = found.get(name.lower(), frozenset()) | _counts_of(column)
        return found

    def counts_of(self, entity: str) -> frozenset[int]:
        """How many of an entity there are in the columns that show it; in all columns where none is known to."""
        spec = self.model.entities.get(entity) if self.model else None
        roles = [role for recipe in spec.match.values() for role in recipe.roles] if spec else []
        columns = {
            column.lower()
            for table in self.table_specs
            for role in roles
            if (column := table.column_by_role.get(role)) is not None
        }
        kept = [counts for name, counts in self.column_counts.items() if name in columns or name == entity]
        return frozenset().union(*(kept or self.column_counts.values()))

    @cached_property
    def groups(self) -> dict[str, set[int]]:
        """By the words of a value of the rows, how many rows have it."""
        found: dict[str, set[int]] = {}
        rows = self.evidence.result.rows
        if len(rows) > _COUNTED_ROWS:
            return found
        for column in zip(*rows, strict=True):
            for value, count in Counter(cell for cell in column if isinstance(cell, str)).items():
                for name in (value, *self._labels.get(value, ())):
                    found.setdefault(words_of(name).strip(), set()).add(count)
        return found

    @cached_property
    def _labels(self) -> dict[str, tuple[str, ...]]:
        """By a value that the model gives names, those names."""
        entities = self.model.entities.values() if self.model else ()
        return {one.id: (one.label, *one.names) for spec in entities for one in spec.values}

    @cached_property
    def signs(self) -> frozenset[int]:
        """How many rows have a positive, and how many a negative value, by column."""
        found: set[int] = set()
        for column in zip(*self.evidence.result.rows, strict=True):
            numbers = [cell for cell in column if isinstance(cell, int | float) and not isinstance(cell, bool)]
            if any(cell < 0 for cell in numbers):
                found |= {sum(cell > 0 for cell in numbers), sum(cell < 0 for cell in numbers)}
            flags = [cell for cell in column if isinstance(cell, bool)]
            if flags:
                found |= {sum(flags), len(flags) - sum(flags)}
        return frozenset(found)

    @cached_property
    def sums(self) -> frozenset[int]:
        """The sums of whole columns of counts."""
        columns = zip(*self.evidence.result.rows, strict=True)
        return frozenset(
            sum(column)
            for column, unit in zip(columns, self.units.of(self.evidence.result), strict=False)
            if unit == UNKNOWN
            and column
            and all(isinstance(cell, int) and not isinstance(cell, bool) for cell in column)
        )

    # -- texts ----------------------------------------------------------------------------------

    @cached_property
    def text(self) -> str:
        """All texts of the evidence as words."""
        return "  ".join(words_of(text) for text in [*self._statements(), *self.cells()])

    @cached_property
    def cell_words(self) -> str:
        """All cells of the rows as words."""
        return words_of(" ".join(self.cells()))

    @cached_property
    def jargon(self) -> str:
        """The words by which the model names columns, meanings and tables, as words."""
        return words_of(" ".join(self._model_texts()))

    def holds(self, text: str) -> bool:
        """Whether the evidence contains `text` as whole words, also where it is written as one word."""
        words = words_of(text)
        if not words.strip():
            return True
        return words in self.text or f" {words.replace(' ', '')} " in self._joined

    @cached_property
    def _joined(self) -> str:
        """Each word group of the evidence that punctuation parts, as one word: `hladrb1`."""
        raw = " ".join([*self._statements(), *self.cells()])
        pieces = dict.fromkeys(words_of(piece).replace(" ", "") for piece in re.split(r"[\s,;()]+", raw))
        return f" {' '.join(pieces)} "

    def texts(self) -> Iterator[str]:
        """The texts in which names may be looked for again: the question and each distinct cell."""
        yield from self._statements()
        yield from dict.fromkeys(self.cells())

    def _results(self) -> list[QueryResult]:
        general = self.evidence.general
        return [self.evidence.result, *([general] if general is not None else [])]

    def cells(self) -> Iterator[str]:
        """The cells of the rows as text."""
        for result in self._results():
            for row in result.rows:
                for cell in row:
                    if cell is not None and not isinstance(cell, bool):
                        yield ", ".join(map(str, cell)) if isinstance(cell, list | tuple) else str(cell)

    def _statements(self) -> Iterator[str]:
        yield from self._asked()
        yield from self._stated()

    def _asked(self) -> Iterator[str]:
        """The question, and what its plan took from it."""
        evidence, plan = self.evidence, self.evidence.plan
        yield evidence.question
        yield from evidence.warnings
        yield from plan.notes
        for one in (*plan.filters, *plan.having):
            yield from map(str, one.values)
            yield one.words
        for item in plan.select:
            yield item.value
        for mention in plan.mentions:
            yield from (mention.text, mention.value, mention.note, *mention.alternatives)
            yield from (value for values in mention.stored.values() for value in values)

    def _stated(self) -> Iterator[str]:
        """What the query and the rules say, and what the tables are about."""
        yield self.evidence.sql
        for record in self.evidence.conventions:
            yield from (record.predicate, record.reason, record.citation, record.words)
        for column in self.evidence.result.columns:
            yield column.name
        yield from self._topics()

    def _topics(self) -> Iterator[str]:
        """What the tables are about as a whole."""
        for table in self.table_specs:
            yield from (table.study, table.description)
            for value in _about(table):
                yield value
                yield from self._labels.get(value, ())

    def _model_texts(self) -> Iterator[str]:
        if self.model is None:
            return
        for family in self.model.families.values():
            yield from (family.label, family.row, *family.nouns, *family.say.labels.values())
            for fact in family.say.facts:
                yield from (case.say for case in fact.cases)
            yield from (role.meaning for role in family.roles.values())
            yield from (f"{one.meaning} {one.alias}" for one in family.derived.values())
        for table in self.model.tables.values():
            yield from table.columns
        for attribute in self.model.attributes.values():
            yield from (attribute.label, *attribute.words)


def _about(table: Table) -> Iterator[str]:
    yield from table.about.values()
    for values in table.covers.values():
        yield from values


def _hashable(cell: object) -> object:
    return tuple(map(str, cell)) if isinstance(cell, list | tuple) else str(cell) if isinstance(cell, dict) else cell


def _quantities(cell: object, unit: str) -> Iterator[Quantity]:
    match cell:
        case bool() | None:
            return
        case int() | float() | decimal.Decimal():
            yield Quantity(float(cell), unit)
        case dt.date():
            yield from (Quantity(float(part)) for part in (cell.year, cell.month, cell.day))
        case tuple():
            yield from (Quantity(value, unit) for item in cell for value in _numbers_in(str(item)))
        case _:
            yield from (Quantity(value, unit) for value in _numbers_in(str(cell)))


def _numbers_in(text: str) -> set[float]:
    """The numbers of a text, whatever stands after them: `40MG/0.8ML` holds 40 and 0.8, `5e-8` no 5."""
    if " " not in text and not _DIGITS.search(text):
        return set()  # a name, or an identifier
    said = figures(text)
    found = {figure.value for figure in said}
    rest = list(text)
    for figure in said:
        rest[figure.start : figure.end] = " " * (figure.end - figure.start)
    return found | {float(digits.replace(",", "")) for digits in _DIGITS.findall("".join(rest))}


def _counts_of(column: tuple[object, ...]) -> frozenset[int]:
    """How many values a column holds, how many items its lists, and how many cells are missing."""
    texts = [cell for cell in column if isinstance(cell, str)]
    found = {len({_hashable(cell) for cell in column if cell is not None})}
    items: set[str] = set()
    for text in texts[:_COUNTED_ROWS]:
        parts = [part.strip() for part in _LISTED.split(text)]
        if len(parts) > 1:
            found.add(len(parts))
        items.update(parts)
    found.add(len(items))
    missing = sum(cell is None for cell in column)
    return frozenset(found | {missing, len(column) - missing})
