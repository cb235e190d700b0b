"""Columns of different lengths in one Arrow file, read where they lie: memory-mapped, without pyarrow.

The file has one record batch of one row, in which each column is a list. pyarrow writes it, and any Arrow
library reads it. Reading here takes the places of the buffers from the file's own footer (Apache
Arrow, "IPC File Format"), because importing pyarrow would take ten times as long as the first question.
"""

from __future__ import annotations

import json
import mmap
import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from bmsql.errors import KnowledgeBaseError

_MAGIC = b"ARROW1"
Data = bytes | mmap.mmap
_BUFFERS = {"text": 5, "int": 4}
"""Buffers of a list column by kind: validity and offsets of the list, then those of its items."""
_POSTS = 256
"""Texts of a sorted column that are kept at hand: a look-up between two of them takes few steps into the file."""


class Texts(Sequence[bytes]):
    """A column of UTF-8 texts inside a mapped file."""

    def __init__(self, data: Data, offsets: memoryview, start: int) -> None:
        self._data, self._offsets, self._start = data, offsets, start

    def __len__(self) -> int:
        return max(0, len(self._offsets) - 1)

    def __getitem__(self, place: Any) -> Any:
        return self._data[self._start + self._offsets[place] : self._start + self._offsets[place + 1]]

    def text(self, place: int) -> str:
        """The text at a place."""
        return str(self[place], "utf-8")

    @cached_property
    def _posts(self) -> tuple[int, list[bytes]]:
        """Every so many places, and the texts there."""
        step = max(1, -(-len(self) // _POSTS))
        return step, [self[place] for place in range(0, len(self), step)]

    def place(self, text: bytes) -> int:
        """Where a text is, or would be, in a sorted column."""
        step, posts = self._posts
        behind = bisect_left(posts, text) * step
        return bisect_left(self, text, max(0, behind - step), min(behind, len(self)))

    def holds(self, part: bytes) -> bool:
        """Whether `part` occurs inside any of the texts, or across two of them."""
        return len(self) > 0 and self._data.find(part, self._start, self._start + self._offsets[-1]) >= 0


class ColumnFile:
    """An open file: `about` as it was written, and the columns by name."""

    def __init__(self, data: Data, name: str) -> None:
        """Look into a file, mapped or read. Raises KnowledgeBaseError when it is no such file, or damaged."""
        self.data = data
        try:
            self._buffers = _buffers(data)
            about = self._texts(0)
            self.about: dict[str, Any] = json.loads(about.text(0))
            self._places: dict[str, tuple[str, int]] = {}
            place = _BUFFERS["text"]
            for name, kind in self.about["columns"]:
                self._places[name] = (kind, place)
                place += _BUFFERS[kind]
            if place != len(self._buffers):
                raise ValueError("it has other columns than it says")
        except (ValueError, LookupError, TypeError, struct.error, RecursionError) as e:
            raise KnowledgeBaseError(f"The value index {name} cannot be read: {e}.", remedy="Build it anew.") from e

    @classmethod
    def open(cls, path: Path) -> ColumnFile:
        """Map a file. Raises KnowledgeBaseError."""
        try:
            with path.open("rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as e:
            raise KnowledgeBaseError(f"The value index {path} cannot be read: {e}.", remedy="Build it anew.") from e
        return cls(data, str(path))

    def texts(self, name: str) -> Texts:
        """A column of texts."""
        return self._texts(self._places[name][1])

    def ints(self, name: str) -> memoryview:
        """A column of 32-bit integers."""
        start, length = self._buffers[self._places[name][1] + 3]
        return memoryview(self.data)[start : start + length].cast("i")

    def _texts(self, place: int) -> Texts:
        (offsets, size), (start, _) = self._buffers[place + 3], self._buffers[place + 4]
        return Texts(self.data, memoryview(self.data)[offsets : offsets + size].cast("i"), start)


def find(sorted_texts: Texts, text: bytes) -> int:
    """The place of a text in a sorted column, -1 where it is not there."""
    place = sorted_texts.place(text)
    return place if place < len(sorted_texts) and sorted_texts[place] == text else -1


def beginning(sorted_texts: Texts | list[bytes], prefix: bytes) -> Iterator[bytes]:
    """The texts of a sorted column that begin with `prefix`."""
    first = sorted_texts.place(prefix) if isinstance(sorted_texts, Texts) else bisect_left(sorted_texts, prefix)
    for place in range(first, len(sorted_texts)):
        text = sorted_texts[place]
        if not text.startswith(prefix):
            return
        yield text


def pack(about: Mapping[str, Any], columns: Mapping[str, Sequence[str] | Sequence[int]]) -> bytes:
    """The content of a column file. Columns whose names end in `*` hold texts, the others 32-bit integers."""
    import pyarrow as pa

    kinds = {name: "text" if name.endswith("*") else "int" for name in columns}
    text = json.dumps({**about, "columns": list(kinds.items())}, ensure_ascii=False)
    arrays = {"about": _list_array([text], pa.string())}
    for name, values in columns.items():
        arrays[name] = _list_array(values, pa.string() if kinds[name] == "text" else pa.int32())
    table = pa.record_batch(list(arrays.values()), names=list(arrays))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_batch(table)
    return bytes(sink.getvalue().to_pybytes())


def _list_array(values: Sequence[Any], kind: Any) -> Any:
    """A list array of one row, from buffers: pyarrow's own way from Python lists would import pandas."""
    import pyarrow as pa

    if pa.types.is_string(kind):
        texts = [value.encode() for value in values]
        ends = array("i", accumulate(map(len, texts), initial=0))
        items = pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts)))
    else:
        items = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(array("i", values))])
    ends = pa.Array.from_buffers(pa.int32(), 2, [None, pa.py_buffer(array("i", (0, len(values))))])
    return pa.ListArray.from_arrays(ends, items)


def _buffers(data: Data) -> list[tuple[int, int]]:
    """Start and length in the file of every buffer of its only record batch."""
    if data[: len(_MAGIC)] != _MAGIC or data[-len(_MAGIC) :] != _MAGIC:
        raise ValueError("it is not an Arrow file, or was cut off")
    end = len(data) - len(_MAGIC) - 4
    footer = _Flat(data, end - _unpack("<i", data, end))
    blocks, count = footer.vector(3)
    if count != 1:
        raise ValueError(f"it has {count} record batches, not one")
    block, length = _unpack("<q", data, blocks), _unpack("<i", data, blocks + 8)
    batch = _Flat(data, block + 8).table(2)
    buffers, count = batch.vector(2)
    found = [
        (block + length + _unpack("<q", data, place), _unpack("<q", data, place + 8))
        for place in range(buffers, buffers + 16 * count, 16)
    ]
    if any(start < 0 or size < 0 or start + size > len(data) for start, size in found):
        raise ValueError("a column goes beyond its end")
    return found


class _Flat:
    """A table of a flatbuffer: its fields by number."""

    def __init__(self, data: Data, root: int, *, at_root: bool = True) -> None:
        self._data = data
        self._at = root + _unpack("<I", data, root) if at_root else root

    def _field(self, number: int) -> int:
        table = self._at - _unpack("<i", self._data, self._at)
        place = 4 + 2 * number
        offset = _unpack("<H", self._data, table + place) if place < _unpack("<H", self._data, table) else 0
        if not offset:
            raise ValueError("a part of its footer is missing")
        at = self._at + offset
        return at + _unpack("<I", self._data, at)

    def table(self, number: int) -> _Flat:
        """The table in a field."""
        return _Flat(self._data, self._field(number), at_root=False)

    def vector(self, number: int) -> tuple[int, int]:
        """The place of the first item of a vector in a field, and how many it has."""
        at = self._field(number)
        return at + 4, _unpack("<I", self._data, at)


def _unpack(form: str, data: Data, place: int) -> int:
    if place < 0:
        raise ValueError("its footer points outside")
    return int(struct.unpack_from(form, data, place)[0])
