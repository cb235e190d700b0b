"""An example: a question with its SQL, and what of both is compared."""

from __future__ import annotations

from rapidfuzz.distance import Indel
from sqlglot import exp

from bmsql.errors import SemanticModelError
from bmsql.fewshot._skeleton import skeleton
from bmsql.semantic import SemanticModel
from bmsql.sql import parse
from bmsql.types import Frozen


class Example(Frozen):
    """A question that was answered by a query.

    sql: in the BigQuery dialect, tables by their plain names; masked: the question as `mask_question` gives it;
    skeleton: the query as `skeleton` gives it; source: `model` (the semantic model's own) or the file it is
    from; template: a name that all examples of one template share, or empty.
    """

    question: str
    sql: str
    masked: str = ""
    skeleton: str = ""
    source: str = "model"
    template: str = ""

    @property
    def key(self) -> str:
        """What makes two examples the same: the question, whatever its case and spacing."""
        return question_key(self.question)


def question_key(question: str) -> str:
    """A question without case and spacing."""
    return " ".join(question.casefold().split())


def skeleton_similarity(one: str, other: str) -> float:
    """How alike two skeletons are, from 0 to 1: by the words that both have in the same order."""
    return 1.0 if one == other else float(Indel.normalized_similarity(one.split(), other.split()))


def portable(sql: str, model: SemanticModel) -> str:
    """`sql` with the tables of the model by their plain names, without project and data set.

    Raises SqlSyntaxError or ForbiddenSqlError where it is not one SELECT.
    """
    tree = parse(sql)
    for table in tree.find_all(exp.Table):
        if table.name in model.tables:
            table.set("db", None)
            table.set("catalog", None)
            # How the whole path was quoted is remembered apart from its parts.
            table.meta.pop("quoted_table", None)
            table.this.set("quoted", not table.name.isidentifier())
    return tree.sql(dialect="bigquery")


def named_tables(sql: str, model: SemanticModel, *, question: str) -> str:
    """SQL of the semantic model with `{family}` and `{family.value}` as the tables that they stand for.

    `{gwas.AD}` is the table of the family `gwas` that is about `AD`. Raises SemanticModelError for a name
    that stands for no table, or for several.
    """
    tables: dict[str, list[str]] = {}
    for name, table in model.tables.items():
        tables.setdefault(table.family, []).append(name)
        for value in table.about.values():
            tables.setdefault(f"{table.family}.{value}", []).append(name)
    for mark, names in tables.items():
        if f"{{{mark}}}" not in sql:
            continue
        if len(names) > 1:
            raise SemanticModelError(
                f"'{{{mark}}}' in the example '{question}' stands for {len(names)} tables.",
                file=model.file,
                field="examples",
                remedy=f"Write what the table is about, as in '{{{mark}.value}}', or its name.",
            )
        sql = sql.replace(f"{{{mark}}}", f"`{names[0]}`")
    return sql


def model_examples(model: SemanticModel) -> list[Example]:
    """The examples of a semantic model, not masked yet."""
    return [
        Example(
            question=one.question,
            sql=named_tables(one.sql, model, question=one.question),
            template=one.template,
        )
        for one in model.examples
    ]


def with_skeleton(example: Example) -> Example:
    """The example with its skeleton, where it has none yet."""
    return example if example.skeleton else example.model_copy(update={"skeleton": skeleton(example.sql)})
