"""The guard: one read-only query over the catalogue, by allow-lists.

Nothing is looked for that might be dangerous; everything that is not known to be harmless is
refused: the first word, every kind of node of the tree, every function, every table.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from bmsql.errors import ForbiddenSqlError, SqlError
from bmsql.sql import _functions
from bmsql.sql._analysis import analyse
from bmsql.sql._depth import depths
from bmsql.sql._extract import STATEMENT_WORDS
from bmsql.sql._foreign_functions import ELSEWHERE
from bmsql.sql._lexer import LexError, Token
from bmsql.sql._parse import ONE_SELECT, parse_source
from bmsql.sql._policy import DEFAULT_POLICY, Policy
from bmsql.sql._source import Source, problem_at
from bmsql.sql._tree import span
from bmsql.types import Catalog, Problem

_ROOTS = (exp.Select, exp.SetOperation, exp.Subquery)
_NODES = frozenset((
    "Select", "Union", "Except", "Intersect", "Subquery", "With", "CTE", "From", "Join", "Table", "TableAlias",
    "Identifier", "Column", "Star", "Dot", "Literal", "RawString", "ByteString", "HexString", "Boolean", "Null",
    "Alias", "Paren", "Tuple", "Where", "Group", "Having", "Qualify", "Order", "Ordered", "Limit", "Offset",
    "Distinct", "Window", "WindowSpec", "Anonymous", "SafeFunc", "NetFunc", "Cast", "TryCast", "DataType",
    "DataTypeParam", "ColumnDef", "Case", "If", "In", "Between", "Like", "Not", "And", "Or", "EQ", "NEQ", "GT",
    "GTE", "LT", "LTE", "Add", "Sub", "Mul", "Div", "Neg", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot",
    "BitwiseLeftShift", "BitwiseRightShift", "DPipe", "Is", "NullSafeEQ", "NullSafeNEQ", "Exists", "Array",
    "Bracket", "Unnest", "Interval", "IntervalSpan", "Var", "Extract", "Pivot", "PivotAlias", "PivotAny",
    "TableSample", "Rollup", "Cube", "GroupingSets", "IgnoreNulls", "RespectNulls", "HavingMax", "CurrentDate",
    "CurrentTimestamp", "CurrentDatetime", "CurrentTime", "Any", "All", "AtTimeZone", "ParseJSON", "Struct",
    "PropertyEQ", "Kwarg", "WeekStart", "UnpivotColumns", "Collate",
))  # fmt: skip
_WHY = {
    "Version": "FOR SYSTEM_TIME reads another state of the table.",
    "Lateral": "Table functions and LATERAL are not allowed.",
    "Into": "SELECT INTO writes a table.",
    "Lock": "FOR UPDATE takes a lock.",
    "Parameter": "Query parameters are not allowed: nothing binds them.",
    "Placeholder": "Query parameters are not allowed: nothing binds them.",
    "SessionParameter": "Session variables are not allowed.",
    "CurrentUser": "Session functions are not allowed.",
    "CurrentRole": "Session functions are not allowed.",
    "Hint": "Hints are not allowed.",
    "Lambda": "Lambda expressions are not supported.",
    "Mod": "BigQuery has no % operator: use MOD(a, b).",
    "ILike": "BigQuery has no ILIKE: use LOWER(text) LIKE LOWER(pattern).",
    "RegexpLike": "BigQuery has no such operator: use REGEXP_CONTAINS(text, pattern).",
    "SimilarTo": "BigQuery has no SIMILAR TO: use REGEXP_CONTAINS(text, pattern).",
    "Glob": "BigQuery has no GLOB: use LIKE.",
    "Values": "VALUES is not supported: use UNNEST([...]) or SELECT ... UNION ALL.",
    "Slice": "BigQuery has no slices: use ARRAY_SLICE or SUBSTR.",
}
# Calls with a syntax of their own, which the prefix SAFE. cannot change.
_NO_SAFE = frozenset(("ARRAY", "CAST", "EXTRACT", "SAFE_CAST", "STRUCT", "UNNEST"))
_PAREN_WORDS = frozenset("""
    ALL AND ANY AS ASC BETWEEN BY CASE COLLATE CROSS CUBE DESC DISTINCT ELSE EXCEPT EXISTS FROM FULL GROUPING HAVING
    IN INNER INTERSECT IS JOIN LIKE LIMIT NOT OFFSET ON OR ORDER OUTER OVER PERCENT PIVOT QUALIFY REPLACE ROLLUP
    SELECT SETS SOME SYSTEM THEN UNION UNPIVOT USING WHEN WHERE WINDOW WITH
""".split())  # fmt: skip
# Words that begin a statement and are hardly ever the name of a column, and what follows a column.
_NO_NAMES = STATEMENT_WORDS - frozenset(
    ("FROM", "IF", "FOR", "REPLACE", "VALUES", "PIVOT", "UNPIVOT", "COMMENT", "DESC", "END", "FORCE")
)
_AFTER_NAME = frozenset("""
    AND AS ASC BETWEEN COLLATE DESC FROM HAVING IGNORE IN IS LIKE LIMIT NOT OR ORDER OVER RESPECT
""".split()) | {""}  # fmt: skip
_TYPES_WITH_LENGTH = frozenset(("STRING", "BYTES", "NUMERIC", "DECIMAL", "BIGNUMERIC", "BIGDECIMAL"))


def guard(tree: exp.Expr, catalog: Catalog, policy: Policy | None = None) -> None:
    """Check that `tree` is one read-only query over `catalog`; return nothing when it is.

    What is checked is the text that the tree becomes, because that text is what is executed.

    Raises:
        ForbiddenSqlError: it is not; the error names the first offence, with line and column.
    """
    policy = policy or DEFAULT_POLICY
    if not isinstance(tree, _ROOTS):
        raise ForbiddenSqlError(f"A {type(tree).__name__.upper()} statement is not a query.", remedy=ONE_SELECT)
    try:
        source = Source(tree.sql(dialect="bigquery"))
    except LexError as error:
        raise ForbiddenSqlError(
            f"The query cannot be written as safe text: {error.message}", remedy=ONE_SELECT
        ) from error
    problems = [*text_problems(source, policy)]
    if not problems:
        try:
            faithful = parse_source(source)
            arrays = analyse(faithful, source, catalog, policy).arrays
            problems = [*tree_problems(faithful, source, catalog, policy, arrays)]
        except SqlError as error:
            raise ForbiddenSqlError(
                f"The query does not read back as it was: {error.message}", remedy=ONE_SELECT
            ) from error
    if problems:
        first = problems[0]
        raise ForbiddenSqlError(
            first.message, line=first.line, column=first.column, remedy=first.suggestion or ONE_SELECT
        )


def text_problems(source: Source, policy: Policy) -> Iterator[Problem]:
    """Offences that the tokens show: length, nesting, first word, statements, functions."""
    no_query = _no_query(source, policy)
    if no_query is not None:
        yield no_query
        return
    for index, depth in enumerate(depths(source.tokens)):
        last = _last_problem(source, index, depth, policy)
        if last is not None:
            yield last
            return
        yield from _token_problems(source, index, policy)


def _no_query(source: Source, policy: Policy) -> Problem | None:
    """What makes a text no query at all: its length, emptiness, or first word."""
    text, tokens = source.text, source.tokens
    if len(text) > policy.max_length:
        message = f"The query has {len(text)} characters; {policy.max_length} are allowed."
        return problem_at(text, "too-long", message, 0, 40, "Shorten it.")
    if not tokens:
        return problem_at(text, "empty", "There is no SQL in the text.", 0, 0, ONE_SELECT)
    first = next((token for token in tokens if token.text != "("), tokens[0])
    if first.upper in ("SELECT", "WITH"):
        return None
    known = first.upper in STATEMENT_WORDS
    what = f"{first.upper} statement" if known else f"text that begins with {first.text[:30]!r}"
    return source.problem_on(first, "forbidden-statement", _only_select(what), ONE_SELECT)


def _last_problem(source: Source, index: int, depth: int, policy: Policy) -> Problem | None:
    """A problem at a token after which no more is read: another statement, or nesting without end."""
    token = source.tokens[index]
    if token.text == ";":
        return source.problem_on(
            token, "several-statements", "There are several statements; one is allowed.", ONE_SELECT
        )
    nested = _nested_statement(source.tokens, index + 1) if token.text == "(" else None
    if nested is not None:
        message = _only_select(f"{nested.upper} statement")
        return source.problem_on(nested, "forbidden-statement", message, ONE_SELECT)
    if depth > policy.max_nesting:
        message = f"The text is nested more than {policy.max_nesting} levels deep."
        return source.problem_on(token, "too-deep", message, "Write it with fewer levels.")
    return None


def _token_problems(source: Source, index: int, policy: Policy) -> Iterator[Problem]:
    """A forbidden function, variable, character or parameter at one token."""
    text, token = source.text, source.tokens[index]
    if token.text == "(":
        offence = _call_offence(source.tokens, index)
        if offence is not None:
            yield _function_problem(text, *offence)
    elif token.text == "@@":
        message = "System variables (@@...) are not allowed."
        yield problem_at(text, "forbidden-variable", message, token.start, token.end + 30)
    elif token.text in ("|>", "@", "{", "}", "$", "\\", ":=", "!"):
        what = "Pipe syntax (|>) is" if token.text == "|>" else f"The character {token.text!r} is"
        yield source.problem_on(token, "forbidden-token", f"{what} not allowed here.", "Use plain SELECT syntax.")
    elif (token.kind == "param" or token.text == "?") and not policy.parameters:
        message = f"The query parameter {token.text} has no value."
        yield source.problem_on(token, "parameter", message, "Write the value itself.")


def _only_select(what: str) -> str:
    return f"A {what} is not allowed: only SELECT is."


def _nested_statement(tokens: list[Token], index: int) -> Token | None:
    """The first word of a statement other than a query, where one stands in parentheses."""
    if index + 1 >= len(tokens) or tokens[index].upper not in _NO_NAMES:
        return None
    following = tokens[index + 1]
    return tokens[index] if following.kind == "quoted" or following.upper not in _AFTER_NAME else None


def _call_offence(tokens: list[Token], index: int) -> tuple[str, Token, Token] | None:
    """The name before an opening parenthesis, when it is a call that is not on the list."""
    last = tokens[index - 1] if index else None
    if last is None or last.kind not in ("word", "quoted"):
        return None
    begin = index - 1
    while begin >= 2 and tokens[begin - 1].text == "." and tokens[begin - 2].kind in ("word", "quoted"):
        begin -= 2
    name = "".join(token.text.strip("`") for token in tokens[begin:index]).upper()
    if name.startswith("SAFE.") and name.removeprefix("SAFE.") in _NO_SAFE:
        return name, tokens[begin], last
    name = name.removeprefix("SAFE.")
    if begin == index - 1 and last.kind == "word":
        before = tokens[begin - 1] if begin else None
        if name in _PAREN_WORDS or name in _TYPES_WITH_LENGTH:
            return None
        if before is not None and before.upper == "WINDOW":
            return None
        if name == "NULLS" and before is not None and before.upper in ("INCLUDE", "EXCLUDE"):
            return None  # UNPIVOT INCLUDE NULLS (...)
    if _functions.known(name):
        return None
    if _is_column_list(tokens, begin):
        return None
    return name, tokens[begin], last


def _is_column_list(tokens: list[Token], begin: int) -> bool:
    # `PIVOT (...) name (`: no function either, but BigQuery has no such syntax: leave it to the parser.
    return begin > 0 and tokens[begin - 1].upper == "TABLESAMPLE"


def _function_problem(text: str, name: str, first: Token, last: Token) -> Problem:
    better = _functions.suggest(name)
    hint = f"Use {better}." if name in ELSEWHERE else f"Did you mean {better}?" if better else ""
    message = f"{name} is not a function of BigQuery that may be used here."
    return problem_at(text, "unknown-function", message, first.start, last.end, hint)


def tree_problems(
    tree: exp.Expr, source: Source, catalog: Catalog, policy: Policy, arrays: frozenset[int] = frozenset()
) -> Iterator[Problem]:
    """Offences that the faithful tree shows: kinds of nodes, and tables outside the catalogue.

    `arrays`: ids of the Table nodes that the analysis found to be arrays of a table in scope.
    """
    if not isinstance(tree, _ROOTS):
        yield problem_at(source.text, "forbidden-statement", "Only a SELECT statement is allowed.", 0, 40, ONE_SELECT)
        return
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    for node in tree.walk():
        name = type(node).__name__
        if name not in _NODES and not (policy.parameters and name in ("Parameter", "Placeholder")):
            start, end = span(node, source)
            why = _WHY.get(name, f"{name} is not allowed in a read-only query.")
            yield problem_at(source.text, "forbidden-construct", why, start, end, ONE_SELECT)
            return
        inner = node.this if isinstance(node, (exp.CTE, exp.Exists, exp.Subquery)) else None
        allowed = (*_ROOTS, exp.Table) if isinstance(node, exp.Subquery) else _ROOTS
        if inner is not None and not isinstance(inner, allowed):
            message = "What stands in these parentheses is not a query."
            yield problem_at(source.text, "forbidden-construct", message, *span(inner, source), ONE_SELECT)
        if isinstance(node, exp.Select) and (node.args.get("into") or node.args.get("locks")):
            yield problem_at(
                source.text,
                "forbidden-construct",
                "SELECT INTO and locks are not allowed.",
                *span(node, source),
                ONE_SELECT,
            )
        if isinstance(node, exp.Table) and id(node) not in arrays and not _table_allowed(node, ctes, catalog, policy):
            start, end = span(node, source)
            message = (
                f"The query reads {source.snippet(start, end) or node.name}, which is not a table of the catalogue."
            )
            yield problem_at(
                source.text,
                "forbidden-table",
                message,
                start,
                end,
                f"Tables are in {catalog.project}.{catalog.dataset}.",
            )


def _table_allowed(table: exp.Table, ctes: set[str], catalog: Catalog, policy: Policy) -> bool:
    if not isinstance(table.this, exp.Identifier):
        return False
    if table.args.get("version") or table.args.get("when"):
        return False
    project, dataset, name = table.catalog, table.db, table.name
    if not dataset:
        return not project and (name.lower() in ctes or catalog.find(name) is not None)
    place = f"{project or catalog.project}.{dataset}"
    if place == f"{catalog.project}.{catalog.dataset}" and name.upper().startswith("INFORMATION_SCHEMA."):
        return policy.information_schema
    info = catalog.find(name, dataset, project)
    # Names of datasets are found whatever their case, but BigQuery tells them apart.
    if info is not None and catalog.qualified(info.name).rpartition(".")[0] == place:
        return True
    return f"{project}.{dataset}" in policy.datasets and "INFORMATION_SCHEMA" not in name.upper()
