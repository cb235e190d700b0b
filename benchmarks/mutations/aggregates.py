"""Wrong aggregates and groups, and limits that are dropped or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

Damage = Callable[[exp.Query, str], Iterator[str]]


def _distinct_counts(tree: exp.Query) -> list[exp.Count]:
    return [node for node in tree.find_all(exp.Count) if isinstance(node.this, exp.Distinct)]


def _recounted(make: Callable[[exp.Expr], exp.Expr]) -> Damage:
    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        found = _distinct_counts(tree)
        for node in found:
            node.replace(make(node.this.expressions[0].copy()))
        if found:
            yield tree.sql("bigquery")

    return damage


def _count_of_another(tree: exp.Query, sql: str) -> Iterator[str]:
    """COUNT(*) or COUNT(DISTINCT x) made a distinct count of something else."""
    others = ("SNP", "nearestGene", "Gene", "topRSID", "drugName", "drugActionType", "target", "Omic_tissue", "A1")
    text = tree.sql("bigquery")
    counts = list(tree.find_all(exp.Count))
    tables = {table.name for table in tree.find_all(exp.Table)}
    known = _COLUMNS_OF.get(next(iter(tables)), ()) if len(tables) == 1 else ()
    for node in counts[:1]:
        for other in others:
            if other in known and other not in node.sql("bigquery"):
                yield text.replace(node.sql("bigquery"), f"COUNT(DISTINCT {other})")


_GWAS = ("SNP", "nearestGene", "A1")
_COLUMNS_OF = {
    "AlzheimerDisease_CombinedGeneData_UUID": _GWAS,
    "ParkinsonDisease_CompleteGeneData_No23andMe": _GWAS,
    "NeurodegenerativeDiseases_SMR_Genes_Full": ("Gene", "topRSID", "Omic_tissue", "A1"),
    "DrugGeneTargets_ComprehensiveAnnotations_updated": ("drugName", "drugActionType"),
    "DrugTargets_IndicationsAndTherapeuticUses": ("drugName", "target"),
}


def _computed(name: str) -> Damage:
    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        """The count, or the mean, made another figure of a number column."""
        numbers = {
            "AlzheimerDisease_CombinedGeneData_UUID": "p",
            "ParkinsonDisease_CompleteGeneData_No23andMe": "p",
            "NeurodegenerativeDiseases_SMR_Genes_Full": "p_SMR_multi",
            "DrugGeneTargets_ComprehensiveAnnotations_updated": "maxClinicalTrialPhase",
            "DrugTargets_IndicationsAndTherapeuticUses": "max_phase_for_ind",
            "NeurodegenerativeDisease_AlleleFrequencies_UUID": "freq",
        }
        tables = [table.name for table in tree.find_all(exp.Table)]
        counts = list(tree.find_all(exp.Count))
        if len(set(tables)) != 1 or tables[0] not in numbers or not counts:
            return
        for node in counts:
            node.replace(exp.func(name, exp.column(numbers[tables[0]])))
        yield tree.sql("bigquery")

    return damage


def _counted_list(tree: exp.Query, sql: str) -> Iterator[str]:
    if isinstance(tree, exp.Select) and not tree.find(exp.AggFunc) and not tree.args.get("qualify"):
        tree.set("expressions", [exp.alias_(exp.Count(this=exp.Star()), "n")])
        for key in ("order", "distinct", "limit"):
            tree.set(key, None)
        yield tree.sql("bigquery")


def _listed_count(tree: exp.Query, sql: str) -> Iterator[str]:
    counts = _distinct_counts(tree)
    if isinstance(tree, exp.Select) and len(counts) == 1 and not tree.args.get("group"):
        tree.set("expressions", [counts[0].this.expressions[0].copy()])
        yield tree.sql("bigquery")


def _ungrouped(tree: exp.Query, sql: str) -> Iterator[str]:
    if isinstance(tree, exp.Select) and tree.args.get("group"):
        kept = [item for item in tree.expressions if item.find(exp.AggFunc)]
        if kept:
            tree.set("expressions", kept)
            tree.set("group", None)
            tree.set("order", None)
            yield tree.sql("bigquery")


def _grouped_by_another(tree: exp.Query, sql: str) -> Iterator[str]:
    group = tree.args.get("group")
    if not isinstance(tree, exp.Select) or not group or not isinstance(group.expressions[0], exp.Column):
        return
    old = group.expressions[0].name
    tables = [table.name for table in tree.find_all(exp.Table)]
    for other in _COLUMNS_OF.get(tables[0], ()) if len(tables) == 1 else ():
        if other != old and not any(other == column.name for column in tree.find_all(exp.Column)):
            copied = tree.copy()
            copied.args["group"].expressions[0].set("this", exp.to_identifier(other))
            for item in copied.expressions:
                if isinstance(item, exp.Column) and item.name == old:
                    item.set("this", exp.to_identifier(other))
            yield copied.sql("bigquery")


def _needless_group(tree: exp.Query, sql: str) -> Iterator[str]:
    if isinstance(tree, exp.Select) and not tree.args.get("group") and _distinct_counts(tree):
        tables = [table.name for table in tree.find_all(exp.Table)]
        for other in _COLUMNS_OF.get(tables[0], ())[-1:] if len(tables) == 1 else ():
            tree.set("group", exp.Group(expressions=[exp.column(other)]))
            yield tree.sql("bigquery")


def _without_limit(tree: exp.Query, sql: str) -> Iterator[str]:
    if tree.args.get("limit"):
        tree.set("limit", None)
        yield tree.sql("bigquery")


def _limited(*rows: int) -> Damage:
    def damage(tree: exp.Query, sql: str) -> Iterator[str]:
        for number in rows if tree.args.get("limit") else ():
            copied = tree.copy()
            copied.args["limit"].set("expression", exp.Literal.number(number))
            yield copied.sql("bigquery")

    return damage


def _other_way(tree: exp.Query, sql: str) -> Iterator[str]:
    order = tree.args.get("order")
    if order and tree.args.get("limit"):
        first = order.expressions[0]
        first.set("desc", not first.args.get("desc"))
        yield tree.sql("bigquery")


def _unordered(tree: exp.Query, sql: str) -> Iterator[str]:
    if tree.args.get("order") and tree.args.get("limit"):
        tree.set("order", None)
        yield tree.sql("bigquery")


DAMAGES: dict[str, Damage] = {
    "COUNT(*) for COUNT(DISTINCT)": _recounted(lambda node: exp.Count(this=exp.Star())),
    "COUNT(x) for COUNT(DISTINCT x)": _recounted(lambda node: exp.Count(this=node)),
    "a count of something else": _count_of_another,
    "SUM": _computed("SUM"),
    "AVG": _computed("AVG"),
    "MIN": _computed("MIN"),
    "MAX": _computed("MAX"),
    "a count for a list": _counted_list,
    "a list for a count": _listed_count,
    "GROUP BY dropped": _ungrouped,
    "GROUP BY another column": _grouped_by_another,
    "GROUP BY not asked for": _needless_group,
    "the first from the other end": _other_way,
    "the first in no order": _unordered,
}
LIMIT_DAMAGES: dict[str, Damage] = {
    "drop the limit": _without_limit,
    "another limit": _limited(5, 50),
    "a larger limit": _limited(1000),
}
