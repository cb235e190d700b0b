"""What the prompts of the paper's systems show beside the question, made once for each system."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from bmsql.errors import ConfigurationError
from bmsql.fewshot import Embeddings, Example, ExampleStore, HoldOut, LexicalIndex, VectorIndex
from bmsql.reasoners import Evidence
from bmsql.reasoners.chat import cell_text, render_rows, rule_condition, schema_text
from bmsql.sql import format_sql
from bmsql.types import Plan, QueryResult

if TYPE_CHECKING:
    from bmsql.bench.systems._kit import Kit
    from bmsql.conventions import Rule
    from bmsql.graph import Dependencies

_CELL = 40
_WORDS = 4


def tables_text(deps: Dependencies, tables: Sequence[str]) -> str:
    """The tables with types and meanings of all their columns, and the prefix of their names."""
    catalog = deps.backend.catalog()
    prefix = ".".join(part for part in (catalog.project, catalog.dataset) if part)
    return schema_text(deps.model, tables, full=True) + (f"\nDataset: {prefix}" if prefix else "")


def thresholds_text(deps: Dependencies) -> str:
    """The conventions in words, as the rule book has them, each with its condition; empty where it has none."""
    told = []
    for rule in deps.rules:
        families = [deps.model.families[name].label for name in rule.families if name in deps.model.families]
        if rule.op and families:
            told.append(f"- {rule.title} ({', '.join(families)}): {rule_condition(rule, deps.model)}{_words(rule)}")
    return "\n".join(["CONVENTIONS", *told]) if told else ""


def _words(rule: Rule) -> str:
    """Some words that imply a rule."""
    said = ", ".join(f'"{word}"' for word in rule.words[:_WORDS])
    return f"; meant by {said}" if said else ""


def examples_text(examples: Iterable[Example]) -> str:
    """Example questions, each with its query."""
    told = [f"Q: {example.question}\nSQL: {example.sql}" for example in examples]
    return "\n".join(["EXAMPLES", *told]) if told else ""


def sample_rows_text(kit: Kit, count: int) -> str:
    """The first rows of each table by its evidence key, cells cut; the same at each call.

    Raises ConfigurationError where rows may not be sent, and whatever the backend raises.
    """
    deps = kit.deps
    if not deps.send_rows:
        raise ConfigurationError(
            "sample rows are to be shown to the model, but no rows may be sent.",
            remedy="Choose a system without rows, or allow them.",
        )
    blocks = ["FIRST ROWS OF EACH TABLE"]
    for name in kit.tables:
        result = kit.agent.dependencies.run_or_raise(_first_rows(deps, name, count))
        lines = [" | ".join(result.names())]
        lines += [" | ".join(cell_text(cell, _CELL) for cell in row) for row in result.rows]
        blocks.append("\n".join([f"`{name}`", *lines]))
    return "\n".join(blocks)


def _first_rows(deps: Dependencies, table: str, count: int) -> str:
    held = deps.backend.catalog().by_name[table]
    columns = [exp.column(column.name, quoted=True) for column in held.columns]
    key = held.by_name.get(deps.model.evidence_key.lower()) or held.columns[0]
    query = exp.select(*columns).from_(exp.to_table(f"`{table}`", dialect="bigquery"))
    return format_sql(query.order_by(exp.column(key.name, quoted=True)).limit(count))


def first_examples(store: ExampleStore, count: int, question: str, hold_out: HoldOut | None) -> tuple[Example, ...]:
    """The first examples of the store, the same for each question but for those that are held out."""
    examples = store.examples
    if len(examples) < count:
        raise ConfigurationError(
            f"{count} example queries are to be shown, and there are {len(examples)}.",
            remedy="Give a file with more: --option examples=FILE.",
        )
    if hold_out is not None:
        kept = {one.example.key for one in store.nearest(question, k=len(examples), hold_out=hold_out)}
        examples = tuple(example for example in examples if example.key in kept)
    return examples[:count]


def rows_text(kit: Kit, question: str, sql: str, result: QueryResult) -> str:
    """Rows as a table within the budget that `ours` has too; only their number where they may not be sent."""
    hidden = not kit.deps.send_rows
    shown = result.model_copy(update={"rows": ()}) if hidden else result
    total = len(result.rows) if hidden else None
    evidence = Evidence(question=question, plan=Plan(), sql=sql, result=shown, hidden=hidden, total=total)
    return render_rows(evidence, kit.deps.model, tokens=kit.options.row_tokens)


class TableIndex:
    """Finds tables by their descriptions: by words, or by an embedding model that was handed in."""

    def __init__(self, kit: Kit, embed: Embeddings | None) -> None:
        self._tables = kit.tables
        texts = [_described(kit.deps, name) for name in self._tables]
        self._index = VectorIndex(texts, embed, {}) if embed is not None else LexicalIndex(texts)

    def nearest(self, question: str, count: int) -> tuple[str, ...]:
        """The tables nearest to a question, the nearest first; equals in the order of the semantic model."""
        similar = self._index.similarities(question)
        ranked = sorted(range(len(self._tables)), key=lambda place: -round(similar[place], 9))
        return tuple(self._tables[place] for place in ranked[:count])


def _described(deps: Dependencies, name: str) -> str:
    table = deps.model.tables[name]
    family = deps.model.families[table.family]
    about = [*table.about.values(), *(value for values in table.covers.values() for value in values)]
    columns = [f"{column} {deps.model.meaning(name, column)[0]}" for column in table.columns]
    return " ".join([name, family.label, family.row, *family.nouns, table.description, *about, *columns])
