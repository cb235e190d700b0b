"""What readers of the benchmark's files share: how a file is opened, and how a complaint names its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError
from yaml import YAMLError

from bmsql.data import safe_yaml
from bmsql.errors import BenchmarkFileError
from bmsql.semantic import load_semantic_model


@cache
def table_names() -> dict[str, str]:
    """The abbreviations of tables that plain question files use in braces."""
    names: dict[str, str] = safe_yaml((files("bmsql.bench") / "data" / "tables.yaml").read_text(encoding="utf-8"))
    return names


@dataclass(frozen=True)
class Reading:
    """What a file leaves unsaid.

    evidence_key: the column compared where a question names none, by default that of the shipped semantic model.
    tables: names that stand in braces in gold SQL. logical: columns on which an equality is a threshold, for SQL
    categories that are not given.
    """

    evidence_key: str = field(default_factory=lambda: load_semantic_model().evidence_key)
    tables: Mapping[str, str] = field(default_factory=table_names)
    logical: frozenset[str] = frozenset()


def unwritable(path: Path, error: OSError) -> BenchmarkFileError:
    """The error for a file that cannot be written."""
    return BenchmarkFileError(
        f"cannot be written: {error.strerror or error}.", file=str(path), remedy="Choose another place."
    )


def open_text(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file. Raises BenchmarkFileError where it cannot be read."""
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            yield from lines
    except OSError as error:
        raise BenchmarkFileError(
            f"cannot be read: {error.strerror or error}.", file=str(path), remedy="Give the path of a file."
        ) from error
    except UnicodeDecodeError as error:
        raise BenchmarkFileError("the file is not UTF-8 text.", file=str(path), remedy="Save it as UTF-8.") from error


def no_yaml(error: YAMLError, path: Path) -> BenchmarkFileError:
    """The error for a file that is no YAML, with the line where that shows."""
    mark = getattr(error, "problem_mark", None)
    return BenchmarkFileError(
        f"this is no YAML: {getattr(error, 'problem', None) or error}.",
        file=str(path),
        line=mark.line + 1 if mark else None,
        remedy="Correct the file.",
    )


def invalid(error: ValidationError, path: Path, line: int | None) -> BenchmarkFileError:
    """The first complaint of pydantic, with the place in the file."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    return BenchmarkFileError(
        f"{where + ': ' if where else ''}{message[0].lower()}{message[1:]}.",
        file=str(path),
        line=line,
        remedy="docs/benchmark.md says what the fields may hold.",
    )
