"""Parsing in the BigQuery dialect, with errors that say where and what to do."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from sqlglot import exp
from sqlglot.dialects.bigquery import BigQuery
from sqlglot.errors import ErrorLevel, ParseError, TokenError

from bmsql.errors import ForbiddenSqlError, SqlError, SqlSyntaxError
from bmsql.sql._faithful import Disguise
from bmsql.sql._lexer import LexError
from bmsql.sql._shape import ByShape, has_mark
from bmsql.sql._source import Source, position
from bmsql.sql._tree import children, copied

_DIALECT = BigQuery()
ONE_SELECT = "Write one read-only SELECT (or WITH ... SELECT) over the tables of the catalogue."
# Words that begin a type or a call with a path: before a bracket the parser tries each in two ways, so
# that the work doubles with every level. A level counts 2 ** level; about a second is allowed.
_TRIED_TWICE = frozenset(
    word for word, kind in _DIALECT.tokenizer_class.KEYWORDS.items() if kind in _DIALECT.parser_class.TYPE_TOKENS
)
_MAX_TRIED_LEVELS = 8
_MAX_TRIES = 10_000
# How a comment begins that the parser obeys: it sets what a node knows, even its place.
_ORDER = "sqlglot."
_PLACES = frozenset(("line", "col", "start", "end"))
# With marks in the place of the strings.
_trees: ByShape[exp.Query] = ByShape(kept=256)
_NEEDS_CLAUSE = {"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "QUALIFY", "JOIN", "ON", "SELECT"}


def parse(sql: str) -> exp.Query:
    """`sql` as a syntax tree of sqlglot's BigQuery dialect, without the places of its names.

    Raises:
        SqlSyntaxError: the text is not one query that parses; with line and column from 1.
        ForbiddenSqlError: it is another statement than a SELECT.
    """
    # A copy costs a tenth of parsing, and a query on its way to the database is parsed several times.
    return copied(_parsed(sql))


def shared_tree(sql: str) -> exp.Query:
    """The remembered tree itself: to be read, never changed. Raises as `parse`."""
    return _parsed(sql)


@lru_cache(maxsize=256)
def _parsed(sql: str) -> exp.Query:
    shape = _trees.shape(sql)
    if shape is None:
        return _parse_anew(sql)
    tree = _trees.get(shape)
    if tree is None:
        try:
            tree = _parsed(shape.marked)  # as the validator did just now, where it took out the same strings
        except SqlError:
            # What is wrong is told of the text as it is.
            return _parse_anew(sql)
        if sum(has_mark(literal.this) for literal in tree.find_all(exp.Literal)) != len(shape.pieces.order):
            return _parse_anew(sql)
        _trees.put(shape, tree)
    made = copied(tree)
    for literal in made.find_all(exp.Literal):
        literal.set("this", shape.unmarked(literal.this))
    return made


def _parse_anew(sql: str) -> exp.Query:
    try:
        source = Source(sql)
    except LexError as error:
        raise lex_problem(error, sql) from error
    tokens = _tokens(source)
    tree = _run_parser(tokens, source)
    _keep_comments(tree, tokens)
    _drop_places(tree)
    return tree


def parse_source(source: Source) -> exp.Query:
    """The faithful tree of a text: every call an `exp.Anonymous` with its own name and arguments.

    Raises:
        SqlSyntaxError: as `parse`; also when the parser and the lexer read the text differently.
    """
    tokens = _tokens(source)
    disguise = Disguise(tokens, source.text)
    tree = _run_parser(disguise.tokens, source, disguise)
    disguise.unmask(tree)
    return tree


def lex_problem(error: LexError, sql: str) -> SqlSyntaxError:
    """A lexer's error as a syntax error with its place."""
    line, column = position(sql, error.offset)
    return SqlSyntaxError(error.message, line=line, column=column, remedy=error.hint)


def _tokens(source: Source) -> list[Any]:
    """The parser's tokens of a text that may be one query."""
    shared = _shared_tokens(source.text)
    return _read_tokens(source) if shared is None else list(shared)


@lru_cache(maxsize=16)  # a text is parsed twice in a row: as it is written, and as sqlglot understands it
def _shared_tokens(text: str) -> tuple[Any, ...] | None:
    """The tokens, to be read and never changed; None where there are comments, which the parser hands on."""
    tokens = _read_tokens(Source(text))
    return None if any(token.comments for token in tokens) else tuple(tokens)


def _read_tokens(source: Source) -> list[Any]:
    if not source.tokens:
        raise SqlSyntaxError("There is no SQL in the text.", line=1, column=1, remedy="Write one SELECT statement.")
    first = next((token for token in source.tokens if token.text != "("), source.tokens[0])
    if first.upper not in ("SELECT", "WITH"):
        # Also keeps the parser from falling back to an opaque Command, which it logs.
        line, column = source.position(first.start)
        raise ForbiddenSqlError(
            f"A text that begins with {first.text[:30]!r} is not a query.", line=line, column=column, remedy=ONE_SELECT
        )
    _refuse_costly_nesting(source)
    _refuse_open_joins(source)
    try:
        tokens = _DIALECT.tokenize(source.text)
    except TokenError as error:
        raise SqlSyntaxError(f"The text cannot be read as SQL: {error}", remedy="Check quotes and comments.") from error
    _refuse_two_readings(source, tokens)
    if _ORDER in source.text:
        for token in tokens:
            token.comments = [comment.replace(_ORDER, "sqlglot ") for comment in token.comments]
    return tokens


def _run_parser(tokens: list[Any], source: Source, disguise: Disguise | None = None) -> exp.Query:
    try:
        trees = _DIALECT.parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, source.text)
    except ParseError as error:
        raise _syntax_error(error, source, disguise) from error
    except ValueError as error:
        # The parser builds some calls at once, and fails where they lack an argument: `WEEK()`.
        raise SqlSyntaxError(
            f"The text cannot be read as SQL: {error}.", remedy="Check the calls' arguments."
        ) from error
    except (AttributeError, IndexError, TypeError) as error:
        # The same, with an error that says nothing to the writer: `DATE_ADD(, INTERVAL 1 DAY)`.
        raise SqlSyntaxError(
            "The text cannot be read as SQL: an argument is missing.", remedy="Check the calls' arguments."
        ) from error
    except RecursionError as error:
        raise SqlSyntaxError("The query is nested too deeply.", remedy="Write it with fewer levels.") from error
    found = [tree for tree in trees if tree is not None]
    if len(found) != 1:
        second = next((token for token in source.tokens if token.text == ";"), source.tokens[-1])
        line, column = source.position(second.start)
        raise SqlSyntaxError(
            f"There are {len(found)} statements; one is allowed.",
            line=line,
            column=column,
            remedy="Keep one SELECT statement.",
        )
    return cast(exp.Query, found[0])


def _keep_comments(tree: exp.Expr, tokens: list[Any]) -> None:
    """Keep the comment behind a table's name in one pair of backticks, which the parser takes apart."""
    behind = {token.start: token.comments for token in tokens if token.comments}
    if not behind:
        return
    for table in tree.find_all(exp.Table):
        comments = behind.get(table.this.meta.get("start"))
        if table.meta.get("quoted_table") and comments and not any(part.comments for part in (table, *table.parts)):
            table.add_comments(list(comments))


def _drop_places(tree: exp.Expr) -> None:
    """Forget where each name stood: nobody asks this tree, and it would be a dictionary to keep and copy for each."""
    todo = [tree]
    while todo:
        node = todo.pop()
        known = node._meta  # noqa: SLF001 - by way of `meta` each node would get a dictionary
        if known is not None:
            node._meta = {key: value for key, value in known.items() if key not in _PLACES} or None  # noqa: SLF001
        todo += children(node)


def _refuse_costly_nesting(source: Source) -> None:
    """Stop a text whose parsing would take time exponential in the depth of its constructors."""
    open_: list[bool] = []
    levels = tries = 0
    tokens = source.tokens
    for index, token in enumerate(tokens):
        if token.text in ("(", "["):
            before = tokens[index - 1] if index else None
            path = index > 1 and tokens[index - 2].text == "."
            costly = before is not None and (
                before.upper in _TRIED_TWICE or (before.kind in ("word", "quoted") and (token.text == "[" or path))
            )
            open_.append(costly)
            levels += costly
            tries += 2**levels if costly else 0
            if levels > _MAX_TRIED_LEVELS or tries > _MAX_TRIES:
                line, column = source.position(token.start)
                too = "too deeply" if levels > _MAX_TRIED_LEVELS else "too often"
                raise SqlSyntaxError(
                    f"Constructors and calls like STRUCT(...) are nested {too}; {_MAX_TRIED_LEVELS} levels are read.",
                    line=line,
                    column=column,
                    remedy="Write it with fewer levels.",
                )
        elif token.text in (")", "]") and open_:
            levels -= open_.pop()


def _refuse_open_joins(source: Source) -> None:
    """Stop a text whose joins lack their conditions: the parser tries each with and without those behind it."""
    waiting = [0]  # joins without a condition so far, for each open parenthesis
    for before, token, after in zip((None, *source.tokens), source.tokens, (*source.tokens[1:], None), strict=False):
        word = token.upper or token.text
        if word == "(":
            waiting.append(0)
        elif word == ")" and len(waiting) > 1:
            waiting.pop()
        elif word in ("ON", "USING"):
            waiting[-1] = max(0, waiting[-1] - 1)
        elif word in ("SELECT", "WHERE"):
            waiting[-1] = 0
        elif word == "JOIN" and (before is None or before.upper != "CROSS"):
            waiting[-1] += after is None or after.upper != "UNNEST"
            if sum(waiting) > _MAX_TRIED_LEVELS:
                line, column = source.position(token.start)
                raise SqlSyntaxError(
                    f"More than {_MAX_TRIED_LEVELS} joins have no condition.",
                    line=line,
                    column=column,
                    remedy="Give each JOIN its ON or USING right behind its table, or write CROSS JOIN.",
                )


def _refuse_two_readings(source: Source, tokens: list[Any]) -> None:
    """Stop a text whose literals or comments end elsewhere for the parser than for the lexer."""
    text = source.text
    ours = "".join("".join(token.text.split()) for token in source.tokens)
    theirs = "".join("".join(text[token.start : token.end + 1].split()) for token in tokens)
    starts = {token.start for token in tokens}
    quoted = all(token.start in starts for token in source.tokens if token.kind in ("string", "bytes", "quoted"))
    if ours != theirs or not quoted:
        raise SqlSyntaxError(
            "The text can be read in two ways (quotes or comments are ambiguous).",
            line=1,
            column=1,
            remedy="Write it without comments and with plain quotes.",
        )


def _syntax_error(error: ParseError, source: Source, disguise: Disguise | None) -> SqlSyntaxError:
    detail = error.errors[0] if error.errors else {}
    highlight = str(detail.get("highlight") or "")
    description = str(detail.get("description") or "the statement does not parse").rstrip(".")
    description = description.partition(" but got <Token")[0]
    if disguise is not None:
        description = disguise.clean(description)
    # The parser counts columns at the end of a token; its context gives the offset of the start.
    offset = _offset_of(source, int(detail.get("line") or 1), int(detail.get("col") or 1), highlight)
    line, column = source.position(offset)
    if highlight:
        message = f"Syntax error at {highlight!r}: {_plain(description)}."
    else:
        message = f"Syntax error at the end of the text: {_plain(description)}."
    remedy = "Check what stands before it: a missing comma, parenthesis, operator or keyword."
    if highlight.upper() in _NEEDS_CLAUSE:
        remedy = f"Check the clause before {highlight.upper()}: it is not complete, or the clauses are out of order."
    return SqlSyntaxError(message, line=line, column=column, remedy=remedy)


def _plain(description: str) -> str:
    if description.startswith("Invalid expression / Unexpected token"):
        return "this is not expected here"
    if description.startswith("Required keyword"):
        # It goes on with one argument of a node's class, whichever comes first out of a set.
        return "something is missing"
    return description[0].lower() + description[1:]


def _offset_of(source: Source, line: int, end_column: int, highlight: str) -> int:
    start_of_line = 0
    for _ in range(line - 1):
        start_of_line = source.text.find("\n", start_of_line) + 1
    end = min(start_of_line + end_column, len(source.text))
    for token in source.tokens:
        if token.start < end <= token.end:
            return token.start
    return max(0, end - max(1, len(highlight)))
