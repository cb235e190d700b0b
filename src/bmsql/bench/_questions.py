"""Question files: the published CSV, plain YAML, and the benchmark's own JSON lines and parquet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bmsql.bench._files import Reading, invalid, open_text, unwritable
from bmsql.bench._plain_yaml import read_plain
from bmsql.bench._published_csv import read_published
from bmsql.bench._types import Question
from bmsql.errors import BenchmarkFileError, MissingDependencyError

FORMATS = ".csv (as published), .yaml, .jsonl or .parquet"
_ROWS_PER_GROUP = 2000
# Parquet columns whose values are nested are stored as JSON text.
_NESTED = ("expected", "sql_categories", "bio_categories", "entities")


def read_questions(path: str | Path, reading: Reading | None = None) -> Iterator[Question]:
    """The questions of a file, one at a time; the suffix says which form it has.

    Raises BenchmarkFileError with file and line for anything that is wrong in it, at the latest when that line is
    reached: an id that occurs twice too.
    """
    path = Path(path)
    how = reading or Reading()
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise BenchmarkFileError("this is no question file.", file=str(path), remedy=f"Give a file in {FORMATS}.")
    seen: dict[str, int] = {}
    for line, question in read(path, how):
        if question.id in seen:
            raise BenchmarkFileError(
                f"the id {question.id!r} was given on line {seen[question.id]} already.",
                file=str(path),
                line=line,
                remedy="Give every question an id of its own.",
            )
        seen[question.id] = line
        yield question
    if not seen:
        raise BenchmarkFileError("the file holds no questions.", file=str(path), remedy="Add some.")


def write_questions(path: str | Path, questions: Iterable[Question]) -> int:
    """Write questions as JSON lines or parquet, by the suffix, and return how many.

    Raises BenchmarkFileError for another suffix or a file that cannot be written.
    """
    path = Path(path)
    write = {".jsonl": _write_lines, ".parquet": _write_parquet}.get(path.suffix.lower())
    if write is None:
        raise BenchmarkFileError(
            "questions are not written in this form.", file=str(path), remedy="Use .jsonl or .parquet."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return write(path, questions)
    except OSError as error:
        raise unwritable(path, error) from error


def _read_lines(path: Path, reading: Reading) -> Iterator[tuple[int, Question]]:
    for line, text in enumerate(open_text(path), 1):
        if text.strip():
            try:
                yield line, Question.model_validate_json(text)
            except ValidationError as error:
                raise invalid(error, path, line) from error


def _read_parquet(path: Path, reading: Reading) -> Iterator[tuple[int, Question]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError("reading parquet needs pyarrow.", remedy="pip install pyarrow") from error
    try:
        batches = pq.ParquetFile(path).iter_batches()
        row = 0
        for batch in batches:
            for values in batch.to_pylist():
                row += 1
                yield row, _from_row(values, path, row)
    except (OSError, pa.ArrowException) as error:
        raise BenchmarkFileError(
            f"cannot be read as parquet: {error}.", file=str(path), remedy="Write it with `bmsql bench build`."
        ) from error


def _from_row(values: dict[str, Any], path: Path, row: int) -> Question:
    given = {name: value for name, value in values.items() if value is not None}
    try:
        nested = {name: json.loads(given[name]) for name in _NESTED if name in given}
        return Question.model_validate({**given, **nested})
    except ValidationError as error:
        raise invalid(error, path, row) from error
    except (TypeError, json.JSONDecodeError) as error:
        raise BenchmarkFileError(
            f"a nested value is no JSON: {error}.", file=str(path), line=row, remedy="Write the file anew."
        ) from error


def _write_lines(path: Path, questions: Iterable[Question]) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as out:
        for count, question in enumerate(questions, 1):  # noqa: B007 - the last count is returned
            out.write(question.model_dump_json() + "\n")
    return count


def _write_parquet(path: Path, questions: Iterable[Question]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string()) for name in Question.model_fields])
    count, group = 0, []
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for question in questions:
            values = question.model_dump(mode="json")
            nested = {name: json.dumps(values[name]) for name in _NESTED}
            group.append({**values, **nested})
            count += 1
            if len(group) == _ROWS_PER_GROUP:
                writer.write_table(pa.Table.from_pylist(group, schema))
                group = []
        if group:
            writer.write_table(pa.Table.from_pylist(group, schema))
    return count


# Each yields questions with the line that they begin on.
_READERS: dict[str, Callable[[Path, Reading], Iterator[tuple[int, Question]]]] = {
    ".csv": read_published,
    ".yaml": read_plain,
    ".yml": read_plain,
    ".jsonl": _read_lines,
    ".parquet": _read_parquet,
}
