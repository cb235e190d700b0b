"""What must hold for any query: the rule means the same wherever the table is read."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bmsql.conventions import load_rules
from bmsql.types import ConventionUse
from tests.conventions.world import bag, bigquery, model, parse, prefiltered, run

_BARE = [ConventionUse(rule=name, mode="waived") for name in ("evidence_key", "default_limit")]
_IMPLIED = [ConventionUse(rule="genome_wide_significance", mode="implied"), *_BARE]
_FEW = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

_SIDES = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN")
_WHERE = (
    "",
    "{x}.b > 0",
    "{x}.nearestGene = 'CR1' OR {x}.b < 0",
    "NOT ({x}.b > 0)",
    "{x}.SNP IS NULL",
    "{x}.p IS NOT NULL",
)
_ON = (" ON a.SNP = b.SNP", " ON a.SNP = b.SNP AND a.b > 0")


@st.composite
def _relation(draw: st.DrawFn, depth: int = 0) -> str:
    """Something to read under an alias, with the columns SNP, nearestGene, b and p."""
    table = draw(st.sampled_from(("{AD}", "{PD}")))
    kind = draw(st.sampled_from(("table", "subquery", "union", "distinct") if depth == 0 else ("table",)))
    if kind == "table":
        return table
    if kind == "union":
        return "(SELECT SNP, nearestGene, b, p FROM {AD} UNION ALL SELECT SNP, nearestGene, b, p FROM {PD})"
    word = "DISTINCT " if kind == "distinct" else ""
    return f"(SELECT {word}SNP, nearestGene, b, p FROM {table} AS i WHERE i.b IS NOT NULL)"


@st.composite
def _query(draw: st.DrawFn) -> str:
    left, right = draw(_relation()), draw(_relation())
    aliases = ["a"]
    from_ = f"{left} AS a"
    with_ = ""
    if draw(st.booleans()):
        with_, from_ = f"WITH t AS (SELECT SNP, nearestGene, b, p FROM {left} AS i) ", "t AS a"
    if draw(st.booleans()):
        side = draw(st.sampled_from(_SIDES))
        on = "" if side == "CROSS JOIN" else draw(st.sampled_from(_ON))
        from_ += f" {side} {right} AS b{on}"
        aliases.append("b")
    conditions = [
        draw(st.sampled_from(_WHERE)).replace("{x}", draw(st.sampled_from(aliases)))
        for _ in range(draw(st.integers(0, 2)))
    ]
    if draw(st.booleans()):
        conditions.append("a.SNP IN (SELECT SNP FROM {PD})")
    if draw(st.booleans()):
        conditions.append("NOT EXISTS (SELECT 1 FROM {AD} AS e WHERE e.SNP = a.SNP AND e.b < 0)")
    written = " AND ".join(f"({condition})" for condition in conditions if condition)
    where = f" WHERE {written}" if written else ""
    last = aliases[-1]
    first = "QUALIFY RANK() OVER (PARTITION BY a.nearestGene ORDER BY a.b) = 1"
    shape = draw(
        st.sampled_from(
            (
                f"SELECT a.SNP, {last}.b FROM {from_}{where}",
                f"SELECT DISTINCT a.nearestGene FROM {from_}{where}",
                f"SELECT DISTINCT 'AD' AS d, a.b > 0 AS up, {last}.nearestGene FROM {from_}{where}",
                f"SELECT a.nearestGene, COUNT(*) AS n FROM {from_}{where} GROUP BY a.nearestGene",
                f"SELECT {last}.b > 0 AS up, MAX(a.b) AS m FROM {from_}{where} GROUP BY 1",
                f"SELECT a.nearestGene AS up, {last}.SNP FROM {from_}{where} GROUP BY up, {last}.SNP",
                f"SELECT COUNT(DISTINCT {last}.SNP) AS n, MAX(a.b) AS m FROM {from_}{where}",
                f"SELECT a.nearestGene, COUNT(*) AS n FROM {from_}{where} GROUP BY a.nearestGene HAVING COUNT(*) > 1",
                f"SELECT a.SNP, RANK() OVER (ORDER BY {last}.b) AS r FROM {from_}{where}",
                f"SELECT a.SNP FROM {from_}{where or ' WHERE TRUE'} {first}",
            )
        )
    )
    return with_ + shape


@_FEW
@given(_query())
def test_applying_is_reading_tables_that_hold_only_what_passes(sql: str) -> None:
    tree = parse(sql)
    before = repr(tree)
    applied = load_rules().apply(tree, model(), _IMPLIED)
    assert repr(tree) == before
    assert bag(applied.tree) == bag(prefiltered(tree, "p < 5e-8", "gwas")), bigquery(applied.tree)
    again = load_rules().apply(parse(bigquery(applied.tree)), model(), _IMPLIED)
    assert bigquery(again.tree) == bigquery(applied.tree)
    assert not again.changed


@_FEW
@given(_query())
def test_the_ladder_counts_what_the_queries_count(sql: str) -> None:
    tree, book = parse(sql), load_rules()
    applied = book.apply(tree, model(), _IMPLIED)
    query = book.ladder(applied.tree, model(), applied.records)
    assert query is not None
    ladder = book.read_ladder(run(query)[0], applied.records)
    if "COUNT(DISTINCT" in sql:
        assert ladder.rows_with == run(applied.tree)[0]["n"]
        assert ladder.rows_unfiltered == run(tree)[0]["n"]
    else:
        assert ladder.rows_with == sum(bag(applied.tree).values())
        assert ladder.rows_unfiltered == sum(bag(tree).values())


_THRESHOLDS = st.one_of(
    st.floats(min_value=1e-12, max_value=0.9),
    st.sampled_from((5e-8, 1e-5, 0.05, 5.005e-8, 1e-9)),
)
_FORMS = (
    "{x}p < {v}",
    "{x}p <= {v}",
    "{v} > {x}p",
    "{v} >= {x}p",
    "NOT {x}p >= {v}",
    "({x}p) < ({v})",
    "{x}p BETWEEN 0 AND {v}",
    "-LOG10({x}p) > -LOG10({v})",
    "{x}p < CAST('{v}' AS FLOAT64)",
    "{x}p < {v} * 1.0",
    "{x}p >= {v}",
    "{x}p > {v}",
)


@_FEW
@given(_THRESHOLDS, st.sampled_from(_FORMS), st.sampled_from(("", "a.")), st.booleans())
def test_whatever_threshold_a_draft_has_the_rule_comes_out(value: float, form: str, alias: str, first: bool) -> None:
    written = form.format(x=alias, v=repr(value))
    condition = f"{written} AND b > 0" if first else f"b > 0 AND {written}"
    applied = load_rules().apply(parse(f"SELECT SNP FROM {{AD}} AS a WHERE {condition}"), model(), _IMPLIED)
    # A lower bound below the threshold is a condition of its own, which stays beside it; a BETWEEN
    # that ends at the threshold is left as it is written.
    right = "p < 5e-8"
    if form in {"{x}p >= {v}", "{x}p > {v}"} and value < 5e-8:
        right = f"p < 5e-8 AND {form.format(x='', v=repr(value))}"
    elif form.startswith("{x}p BETWEEN") and value == 5e-8:
        right = "p <= 5e-8"
    assert bag(applied.tree) == bag(parse(f"SELECT SNP FROM {{AD}} WHERE {right} AND b > 0")), bigquery(applied.tree)
    own = load_rules().apply(
        parse(f"SELECT SNP FROM {{AD}} AS a WHERE {condition}"),
        model(),
        [ConventionUse(rule="genome_wide_significance", mode="stated"), *_BARE],
    )
    assert not own.changed
