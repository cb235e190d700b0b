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
from bmsql.sql._parse import lex_problem, parse_source, shared_tree
from bmsql.sql._policy import DEFAULT_POLICY, Policy
from bmsql.sql._recent import Recent
from bmsql.sql._shape import ByShape, Pieces, has_mark, pieces_of
from bmsql.sql._source import Source
from bmsql.sql._tree import release
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
    text = extract_sql(sql)
    return _verdict(text, catalog, policy or DEFAULT_POLICY, _extraction_fixes(sql, text))


def _verdict(text: str, catalog: Catalog, policy: Policy, fixes: list[Fix]) -> ValidatedQuery | Rejected:
    """The verdict on a text that is SQL, or should be; `fixes` were made before."""
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
        self._memory: _Memory | None = None

    def __call__(self, sql: str) -> ValidatedQuery | Rejected:
        """The verdict on a text."""
        memory = self._current()
        verdict = memory.verdicts.get(sql)
        if verdict is None:
            # What is taken out of an answer depends on all of it: on blank lines, and on words in its strings.
            text = extract_sql(sql)
            fixes = _extraction_fixes(sql, text)
            verdict = self._by_shape(text, memory, fixes) or _verdict(text, memory.catalog, self._policy, fixes)
            memory.verdicts.put(sql, verdict)
        return verdict

    def knows(self, sql: str) -> bool:
        """Whether the verdict on a text is there already."""
        memory = self._current()
        if memory.verdicts.get(sql) is not None:
            return True
        shape = memory.shapes.shape(extract_sql(sql))
        return shape is not None and memory.shapes.get(shape) is not None

    def _current(self) -> _Memory:
        catalog, memory = self._catalog(), self._memory
        if memory is None or (memory.catalog is not catalog and memory.catalog != catalog):
            self._memory = memory = _Memory(catalog)
        return memory

    def _by_shape(self, text: str, memory: _Memory, fixes: list[Fix]) -> ValidatedQuery | None:
        """The verdict on a valid text. None for others: what is wrong with a text is told of the text as it is."""
        shape = memory.shapes.shape(text)
        if shape is None:
            return None
        template = memory.shapes.get(shape)
        if template is None:
            template = _template(_verdict(shape.marked, memory.catalog, self._policy, []), len(shape.values))
            if template is None:
                return None
            memory.shapes.put(shape, template)
        made = template.made.filled(shape.values)
        # Not even a step between the two is longer than both.
        if len(text) + len(made) > self._policy.max_length:
            return None
        return ValidatedQuery(sql=made, tables=template.tables, fixes=(*fixes, *template.fixes), mint=_MINT)


class _Template(NamedTuple):
    """The verdict on a valid text: what was made of it, without the values."""

    made: Pieces
    tables: tuple[str, ...]
    fixes: tuple[Fix, ...]


class _Memory:
    """What was found out with one catalogue, which may be another when a backend opens its file anew."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.verdicts: Recent[str, ValidatedQuery | Rejected] = Recent(_REMEMBERED)
        self.shapes: ByShape[_Template] = ByShape(catalog)


def _words(fixes: Iterable[Fix]) -> Iterator[str]:
    for fix in fixes:
        yield from (fix.message, fix.before, fix.after)


def _template(verdict: ValidatedQuery | Rejected, values: int) -> _Template | None:
    """The verdict on a marked text for all others of its shape; None where it speaks of a value."""
    if isinstance(verdict, Rejected) or any(map(has_mark, _words(verdict.fixes))):
        return None
    made = pieces_of(verdict.sql, values)
    return None if made is None else _Template(made, verdict.tables, verdict.fixes)


def _check(source: Source, catalog: Catalog, policy: Policy, fixes: list[Fix]) -> ValidatedQuery | Rejected:
    for _ in range(_ROUNDS):
        problems = list(text_problems(source, policy)) or dialect_problems(source)
        if problems:
            break
        tree = parse_source(source)
        found = analyse(tree, source, catalog, policy)
        problems = found.problems
        if not problems and not found.edits:
            problems = list(tree_problems(tree, source, catalog, policy, found.arrays))
        release(tree)
        if problems:
            break
        fixes += found.fixes
        if not found.edits:
            shared_tree(source.text)
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
    shared_tree(source.text)
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
