"""Files of one JSON object a line: appended safely, read by id without keeping them in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError

from bmsql.bench._files import invalid, unwritable
from bmsql.errors import BenchmarkFileError
from bmsql.types import Closing, Frozen

M = TypeVar("M", bound=Frozen)
_BLOCK = 1 << 16


class Journal(Closing):
    """A file that grows by whole lines.

    Each line is one write, synchronised to the disk before `append` returns, so that a process that is killed loses at
    most the line under way; opening the file again removes such a torn line. One process at a time. With
    `durable=False` the disk may take its time: for what can be made again.
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self.path, self._durable = path, durable
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
            self._end = _whole_lines(self._handle)
            os.ftruncate(self._handle, self._end)
            os.lseek(self._handle, self._end, os.SEEK_SET)
        except OSError as error:
            raise unwritable(path, error) from error

    def append(self, item: Frozen) -> None:
        """Add one line. Raises BenchmarkFileError when the disk is full or gone."""
        data = item.model_dump_json().encode() + b"\n"
        try:
            written = 0
            while written < len(data):
                written += os.write(self._handle, data[written:])
            if self._durable:
                os.fsync(self._handle)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)


class Store(Closing, Generic[M]):
    """The objects of a file by their id; where an id occurs again, the later line counts.

    Only the places of the lines are kept in memory. A torn last line is left out. Raises BenchmarkFileError for a file
    that cannot be read and for a line that is none of `model`, which is checked when it is read.
    """

    def __init__(self, path: Path, model: type[M], key: str) -> None:
        self.path, self._model = path, model
        self._places: dict[str, tuple[int, int]] = {}
        try:
            with path.open("rb") as lines:
                offset = 0
                for number, line in enumerate(lines, 1):
                    if line.endswith(b"\n"):
                        self._places[_id_of(line, key, path, number)] = (offset, number)
                    offset += len(line)
            self._file = path.open("rb")
        except OSError as error:
            raise BenchmarkFileError(
                f"cannot be read: {error.strerror or error}.", file=str(path), remedy="Give the folder of a run."
            ) from error

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._places

    def ids(self) -> list[str]:
        """The ids, in the order in which they first occur."""
        return list(self._places)

    def __iter__(self) -> Iterator[M]:
        for identifier in self._places:
            yield self[identifier]

    def __getitem__(self, identifier: str) -> M:
        """The object of an id; KeyError where there is none."""
        offset, number = self._places[identifier]
        self._file.seek(offset)
        try:
            return self._model.model_validate_json(self._file.readline())
        except ValidationError as error:
            raise invalid(error, self.path, number) from error

    def get(self, identifier: str) -> M | None:
        """The object of an id, or None."""
        return self[identifier] if identifier in self._places else None

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all. Raises BenchmarkFileError."""
    partial = path.with_name(f"{path.name}.part")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error


def _id_of(line: bytes, key: str, path: Path, number: int) -> str:
    """The id of a line; it stands first in what this package writes, so that the rest need not be parsed."""
    start = f'{{"{key}":"'.encode()
    if line.startswith(start):
        end = line.find(b'"', len(start))
        plain = line[len(start) : end]
        if b"\\" not in plain:
            return plain.decode("utf-8", "replace")
    try:
        return str(json.loads(line)[key])
    except (ValueError, KeyError, TypeError) as error:
        raise BenchmarkFileError(
            f"this is no object with {key!r}.", file=str(path), line=number, remedy="Remove the line, or the file."
        ) from error


def _whole_lines(handle: int) -> int:
    """Where the last whole line of an open file ends."""
    size = os.lseek(handle, 0, os.SEEK_END)
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        os.lseek(handle, start, os.SEEK_SET)
        block = os.read(handle, end - start)
        if (found := block.rfind(b"\n")) >= 0:
            return start + found + 1
        end = start
    return 0
