"""`validate`: the only place that makes a `ValidatedQuery`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from bmsql.errors import SqlError, SqlSyntaxError
from bmsql.sql._analysis import analyse
from bmsql.sql._dialect_checks import dialect_problems
from bmsql.sql._extract import extract_sql
from bmsql.sql._fixes import repair
from bmsql.sql._guard import text_problems, tree_problems
from bmsql.sql._lexer import LexError
from bmsql.sql._parse import lex_problem, parse, parse_source
from bmsql.sql._policy import DEFAULT_POLICY, Policy
from bmsql.sql._recent import Recent
from bmsql.sql._shape import ByShape, Pieces, Shape, has_mark, pieces_of
from bmsql.sql._source import Source
from bmsql.types import Catalog, Fix, Problem, Rejected, ValidatedQuery
from bmsql.types._query import _MINT

# Repairs may reveal further ones (a table name must be right before its columns can be checked).
_ROUNDS = 3
# Texts whose verdict is kept: a question has a handful, and a resumed one asks for them again.
_REMEMBERED = 256


def validate(sql: str, catalog: Catalog, policy: Policy | None = None) -> ValidatedQuery | Rejected:
    """Check `sql` (a statement, or a model's whole answer) against `catalog`.

    It is extracted, guarded, parsed, repaired where the meaning is certain (each `Fix` is
    reported), checked for names and types, and guarded again as it will be executed. Identifiers,
    comments and layout stay the author's; tables come out as `project.dataset.table` in backticks.
    A policy without `checks` guards the text and leaves all else as it is.

    Bad SQL is never an exception: it comes back as `Rejected`, with every problem found.
    """
    policy = policy or DEFAULT_POLICY
    text = extract_sql(sql)
    fixes: list[Fix] = _extraction_fixes(sql, text)
    try:
        if not policy.checks:
            return _guarded(text, catalog, policy, fixes)
        source, repairs = repair(text, catalog)
        fixes += repairs
        return _check(source, catalog, policy, fixes)
    except SqlError as error:
        problem = Problem(
            code="syntax" if isinstance(error, SqlSyntaxError) else "forbidden-statement",
            message=error.message,
            line=error.line,
            column=error.column,
            snippet=_around(text, error.line, error.column),
            suggestion=error.remedy,
        )
        return Rejected(sql=text, problems=(problem,), fixes=tuple(fixes))
    except RecursionError:
        # A tree thousands of levels deep, such as a chain of as many operators.
        problem = Problem(
            code="too-complex", message="The query is too deeply nested to be checked.", suggestion="Shorten it."
        )
        return Rejected(sql=text, problems=(problem,), fixes=tuple(fixes))


class Validator:
    """`validate` against the catalogue of one backend; the same text, and one of the same shape, is checked once.

    catalog: asked for each text, as a backend reads it only when it is needed.
    """

    def __init__(self, catalog: Callable[[], Catalog], policy: Policy | None = None) -> None:
        self._catalog, self._policy = catalog, policy or DEFAULT_POLICY
        self._verdicts: Recent[str, ValidatedQuery | Rejected] = Recent(_REMEMBERED)
        self._valid: ByShape[_Template] | None = None

    def __call__(self, sql: str) -> ValidatedQuery | Rejected:
        """The verdict on a text."""
        verdict = self._verdicts.get(sql)
        if verdict is None:
            catalog = self._catalog()
            verdict = self._by_shape(sql, self._shapes(catalog)) or validate(sql, catalog, self._policy)
            self._verdicts.put(sql, verdict)
        return verdict

    def knows(self, sql: str) -> bool:
        """Whether the verdict on a text is there already."""
        if self._verdicts.get(sql) is not None:
            return True
        shapes = self._shapes(self._catalog())
        shape = shapes.shape(sql)
        return shape is not None and shapes.get(shape) is not None

    def _shapes(self, catalog: Catalog) -> ByShape[_Template]:
        shapes = self._valid
        if shapes is None or shapes.catalog is not catalog:
            self._valid = shapes = ByShape(catalog)
        return shapes

    def _by_shape(self, sql: str, shapes: ByShape[_Template]) -> ValidatedQuery | None:
        """The verdict on a valid text. None for others: what is wrong with a text is told of the text as it is."""
        shape = shapes.shape(sql) if len(sql) <= self._policy.max_length else None
        if shape is None or shapes.catalog is None:
            return None
        template = shapes.get(shape)
        if template is None:
            template = _template(shape, validate(shape.marked, shapes.catalog, self._policy))
            if template is None:
                return None
            shapes.put(shape, template)
        if not template.is_unchanged and template.given != shape.pieces.parts:
            return None
        made = sql if template.is_unchanged else template.made.filled(shape.values)
        return ValidatedQuery(sql=made, tables=template.tables, fixes=template.fixes, mint=_MINT)


class _Template(NamedTuple):
    """The verdict on a valid text: what was made of what was given, without the values."""

    given: tuple[str, ...]
    made: Pieces
    tables: tuple[str, ...]
    fixes: tuple[Fix, ...]

    @property
    def is_unchanged(self) -> bool:
        return self.given == self.made.parts


def _words(fixes: Iterable[Fix]) -> Iterator[str]:
    for fix in fixes:
        yield from (fix.message, fix.before, fix.after)


def _template(shape: Shape, verdict: ValidatedQuery | Rejected) -> _Template | None:
    """The verdict on a marked text for all others of its shape; None where it speaks of a value."""
    if isinstance(verdict, Rejected) or any(map(has_mark, _words(verdict.fixes))):
        return None
    made = pieces_of(verdict.sql, len(shape.values))
    return None if made is None else _Template(shape.pieces.parts, made, verdict.tables, verdict.fixes)


def _check(source: Source, catalog: Catalog, policy: Policy, fixes: list[Fix]) -> ValidatedQuery | Rejected:
    for _ in range(_ROUNDS):
        problems = list(text_problems(source, policy)) or dialect_problems(source)
        if problems:
            break
        tree = parse_source(source)
        found = analyse(tree, source, catalog, policy)
        problems = found.problems
        if problems:
            break
        fixes += found.fixes
        if not found.edits:
            problems = list(tree_problems(tree, source, catalog, policy, found.arrays))
            if problems:
                break
            parse(source.text)
            return ValidatedQuery(sql=source.text, tables=found.tables, fixes=tuple(fixes), mint=_MINT)
        source = source.edited(found.edits)
    else:
        problems = [Problem(code="unstable", message="The query could not be repaired in a few steps.")]
    return Rejected(sql=source.text, problems=tuple(problems), fixes=tuple(fixes))


def _guarded(text: str, catalog: Catalog, policy: Policy, fixes: list[Fix]) -> ValidatedQuery | Rejected:
    """The verdict of the guard alone."""
    try:
        source = Source(text)
    except LexError as error:
        raise lex_problem(error, text) from error
    problems = list(text_problems(source, policy))
    tables: tuple[str, ...] = ()
    if not problems:
        tree = parse_source(source)
        found = analyse(tree, source, catalog, policy)
        tables = found.tables
        problems = list(tree_problems(tree, source, catalog, policy, found.arrays))
    if problems:
        return Rejected(sql=source.text, problems=tuple(problems), fixes=tuple(fixes))
    parse(source.text)
    return ValidatedQuery(sql=source.text, tables=tables, fixes=tuple(fixes), mint=_MINT)


def _extraction_fixes(given: str, extracted: str) -> list[Fix]:
    rest = given.strip()
    if rest == extracted:
        return []
    if rest.rstrip("; \t\r\n") == extracted:
        return [Fix(code="semicolon", message="Removed the semicolon at the end.", before=";")]
    return [Fix(code="extracted", message="Took the SQL out of the text around it.", before=given, after=extracted)]


def _around(text: str, line: int | None, column: int | None) -> str:
    if line is None or column is None:
        return ""
    lines = text.splitlines() or [""]
    shown = lines[min(line, len(lines)) - 1]
    return shown[max(0, column - 21) : column + 40].strip()
