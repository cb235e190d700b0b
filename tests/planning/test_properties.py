"""Any plan over the walking club compiles to valid BigQuery SQL that DuckDB runs, or is refused as a plan."""

from __future__ import annotations

import duckdb
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from bmsql.errors import PlanError
from bmsql.planning import compile_plan
from bmsql.semantic import SemanticModel
from bmsql.sql import validate
from bmsql.sql.duckdb import to_duckdb
from bmsql.types import Aggregate, Catalog, Filter, Order, Plan, PlanJoin, SelectItem, Source, ValidatedQuery

TEXT_ROLES = ("find.thing", "find.tags", "find.kind", "find.words")
NUMBER_ROLES = ("find.road", "find.metre", "find.score", "find.year", "find.half")
ENTITIES = ("thing", "tag", "part", "kind", "word", "start", "bare")
TABLES = ("north", "south")

# Whatever people, or a model, may put into a value: quotes, backslashes, patterns, line ends.
text = st.text(
    st.one_of(
        st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"), st.sampled_from("'\"\\%_`;-")
    ),
    max_size=12,
)
number = st.one_of(
    st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)
)
comparison = st.builds(
    Filter,
    target=st.sampled_from(NUMBER_ROLES),
    op=st.sampled_from(("=", "!=", "<", "<=", ">", ">=", "bonferroni", "null_or")),
    values=st.tuples(number),
    negated=st.booleans(),
    any_of=st.integers(0, 2),
)
several = st.builds(
    Filter, target=st.sampled_from(NUMBER_ROLES), op=st.sampled_from(("=", "!=")), values=st.tuples(number, number)
)
ranges = st.builds(
    Filter, target=st.sampled_from(NUMBER_ROLES), op=st.just("between"), values=st.tuples(number, number)
)
texts = st.builds(
    Filter,
    target=st.sampled_from(TEXT_ROLES),
    op=st.sampled_from(("=", "!=", "starts_with", "contains")),
    values=st.lists(text, min_size=1, max_size=3).map(tuple),
    negated=st.booleans(),
)
nulls = st.builds(
    Filter, target=st.sampled_from((*TEXT_ROLES, *NUMBER_ROLES, "find.kept")), op=st.sampled_from(("null", "not_null"))
)
matches = st.builds(
    Filter,
    target=st.sampled_from(ENTITIES),
    op=st.just("match"),
    values=st.lists(text, min_size=1, max_size=3).map(tuple),
    negated=st.booleans(),
    any_of=st.integers(0, 2),
)
places = st.builds(
    Filter,
    target=st.just("place"),
    op=st.just("region"),
    values=st.tuples(st.sampled_from(("new", "old")), st.integers(1, 30), st.integers(0, 10**9), st.integers(0, 10**9)),
    negated=st.booleans(),
)
near = st.builds(
    Filter,
    target=st.sampled_from(("thing", "tag")),
    op=st.just("near"),
    values=st.tuples(st.integers(0, 10**7), text),
)
filters = st.lists(st.one_of(comparison, several, ranges, texts, nulls, matches, places, near), max_size=4).map(tuple)
shown = st.sampled_from(
    ("find.key", "find.thing", "find.half", "find.score", "thing", "kind", "tag", "id", "find.year")
)
orders = st.lists(
    st.builds(Order, column=st.sampled_from(("find.score", "find.year", "find.key")), descending=st.booleans()),
    max_size=2,
).map(tuple)
limits = st.one_of(st.none(), st.integers(1, 10**6))


@st.composite
def lists(draw: st.DrawFn) -> Plan:
    """A list of rows over one table or both."""
    tables = draw(st.sampled_from((("north",), TABLES)))
    order = draw(orders)
    select = draw(st.lists(shown, min_size=1, max_size=4, unique=True))
    select += [one.column for one in order if one.column not in select]
    return Plan(
        sources=tuple(Source(alias=table[0], table=table) for table in tables),
        combine="union" if len(tables) > 1 else "single",
        select=tuple(SelectItem(column=name) for name in select),
        filters=draw(filters),
        order=order,
        distinct=draw(st.booleans()),
        limit=draw(limits),
        limit_per=draw(st.sampled_from(("", "", "find.road", *(("source",) if len(tables) > 1 else ())))),
    )


@st.composite
def groups(draw: st.DrawFn) -> Plan:
    """Counts and groups of one table."""
    keys = draw(st.lists(st.sampled_from(("find.road", "kind", "tag", "find.year")), max_size=2, unique=True))
    function = draw(st.sampled_from(("count", "count_distinct", "min", "max", "avg", "sum")))
    column = draw(st.sampled_from(NUMBER_ROLES))
    having = Filter(target="n", op=draw(st.sampled_from(("<", ">=", "="))), values=(draw(st.integers(0, 99)),))
    counts = function.startswith("count")
    return Plan(
        sources=(Source(alias="n", table="north"),),
        group_by=tuple(SelectItem(column=key) for key in keys),
        aggregate=Aggregate(function=function, column=column),
        having=(having,) if keys and counts and draw(st.booleans()) else (),
        filters=draw(filters),
        order=(Order(column="n", descending=draw(st.booleans())),),
        limit=draw(limits),
    )


@st.composite
def joins(draw: st.DrawFn) -> Plan:
    """Two sources joined by an entity of text, or of items on either side."""
    right = draw(st.sampled_from(("south", "walkers")))
    alias = right[0]
    kind = draw(st.sampled_from(("inner", "semi", "anti")))
    select = [SelectItem(column="find.key", source="n"), SelectItem(column="find.half", source="n")]
    if kind == "inner" and draw(st.booleans()):
        select.append(SelectItem(column="walker.name" if alias == "w" else "find.score", source=alias))
    own = [
        one.model_copy(update={"source": draw(st.sampled_from(("n", *("s" * (alias == "s")))))})
        for one in draw(filters)
    ]
    # Alternatives are said of one source.
    return Plan(
        sources=(Source(alias="n", table="north"), Source(alias=alias, table=right)),
        combine="join",
        joins=(PlanJoin(left="n", right=alias, entity=draw(st.sampled_from(("tag", "thing"))), kind=kind),),
        select=tuple(select),
        filters=tuple(one.model_copy(update={"any_of": 0}) for one in own),
        distinct=draw(st.booleans()),
        limit=draw(limits),
    )


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=st.one_of(lists(), groups(), joins()))
def test_compiled_plans_are_valid_and_run(
    model: SemanticModel, catalog: Catalog, connection: duckdb.DuckDBPyConnection, plan: Plan
) -> None:
    try:
        sql = compile_plan(plan, model, catalog).sql(dialect="bigquery")
    except PlanError as error:
        assert str(error)  # noqa: PT017 - a refusal that says nothing helps nobody
        assume(False)
        return
    checked = validate(sql, catalog)
    assert isinstance(checked, ValidatedQuery), (sql, checked)
    try:
        connection.execute(to_duckdb(checked.sql, catalog)).fetchall()
    except duckdb.OutOfRangeException:
        # The sum of all numbers may be larger than a number can be, in BigQuery too.
        assert plan.aggregate is not None
