"""The user's own examples: a file of JSON lines, which is only ever added to."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from pydantic import ValidationError

from bmsql.errors import ConfigurationError, SemanticModelError
from bmsql.fewshot._example import Example

_FIELDS = ("question", "sql", "masked", "skeleton", "template")
_REMEDY = 'Each line is a JSON object such as {"question": "...", "sql": "SELECT ..."}; correct the line or delete it.'


def read_examples(path: Path) -> list[Example]:
    """The examples of a file, of two with the same question the later one; none where there is no file.

    Raises SemanticModelError, with file and line, for a line that is no example, and ConfigurationError for a
    file that cannot be read.
    """
    try:
        with path.open(encoding="utf-8") as file:
            _lock(file.fileno(), shared=True)
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, UnicodeDecodeError) as e:
        raise unreadable(path, e) from e
    found: dict[str, Example] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            example = _example(line, path, number)
            # A later example of the same question takes the place of the earlier one.
            found.pop(example.key, None)
            found[example.key] = example
    return [*found.values()]


def unreadable(path: Path, error: Exception) -> ConfigurationError:
    """The error for a file that cannot be read."""
    return ConfigurationError(
        f"the examples in {path} cannot be read: {error}.", remedy="Give a UTF-8 file of JSON lines."
    )


def _example(line: str, path: Path, number: int) -> Example:
    try:
        data = json.loads(line)
        if not isinstance(data, dict):
            raise TypeError(f"it is a {type(data).__name__}")
        example = Example.model_validate({**data, "source": str(path)})
        if not example.question.strip() or not example.sql.strip():
            raise TypeError("the question or the SQL is empty")
    except (ValueError, TypeError, RecursionError) as e:
        why = e.errors()[0]["msg"] if isinstance(e, ValidationError) else str(e)
        raise SemanticModelError(f"this line is no example: {why}.", file=str(path), line=number, remedy=_REMEDY) from e
    return example


def append_example(path: Path, example: Example) -> None:
    """Add a line to the file, which is made where it is missing. Raises ConfigurationError where it cannot be.

    One write to a file that is open for appending: lines of several processes do not mix, and one that
    was cut off by a crash does not spoil the next.
    """
    fields = {name: value for name in _FIELDS if (value := getattr(example, name))}
    line = json.dumps(fields, ensure_ascii=False, separators=(", ", ": ")) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            _lock(handle, shared=False)
            os.write(handle, (_missing_end(handle) + line).encode("utf-8", "replace"))
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as e:
        raise ConfigurationError(
            f"the example cannot be kept in {path}: {e}.", remedy="Give a path that can be written to."
        ) from e


def _lock(handle: int, *, shared: bool) -> None:
    """Hold a file until it is closed, so that nobody reads a line of which only a part is written yet."""
    # Where files cannot be locked, one write for each line must do.
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def _missing_end(handle: int) -> str:
    """A line break, where the file does not end with one."""
    size = os.lseek(handle, 0, os.SEEK_END)
    if size == 0:
        return ""
    os.lseek(handle, size - 1, os.SEEK_SET)
    return "" if os.read(handle, 1) == b"\n" else "\n"
