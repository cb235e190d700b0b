"""Files of tables: which file belongs to which table, its checksum, and its rows counted apart from the load."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bmsql.errors import ConfigurationError, KnowledgeBaseError
from bmsql.loading._report import FileRecord

SUFFIXES = (".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz")
ROW_SOURCES_STEM = "_row_sources"

# `TABLE-00000-of-00002`: one part of a table that was split.
_PART = re.compile(r"(?P<table>.+)-\d+-of-\d+")
# Names of parts that leave the table's name to their folder: `TABLE/train-00000-of-00001.parquet`.
_NAMELESS = re.compile(r"(?:(?:part|data|train|test|validation|default)[-_.])?\d[\da-f-]*(?:-of-\d+)?")
_UNUSABLE = re.compile(r"[`.\x00-\x1f\"\\/]")
_BLOCK = 1 << 20
_LONGEST_CELL = 1 << 30


@dataclass(frozen=True)
class TableFiles:
    """The files of one table, all of the same form: `parquet`, or text separated by `separator`."""

    table: str
    paths: tuple[Path, ...]
    suffix: str

    @property
    def parquet(self) -> bool:
        """Whether the files are parquet files; they are text otherwise."""
        return self.suffix == ".parquet"

    @property
    def separator(self) -> str:
        """What separates the cells of a text file."""
        return "\t" if self.suffix.startswith(".tsv") else ","


def table_of(path: str) -> tuple[str, str]:
    """The table that a file holds by its name, and the suffix that tells its form; empty where it is none."""
    pure = PurePosixPath(path)
    suffix = next((each for each in sorted(SUFFIXES, key=len, reverse=True) if pure.name.lower().endswith(each)), "")
    stem = pure.name[: len(pure.name) - len(suffix)]
    if not suffix or not stem or stem.startswith("."):
        return "", ""
    if _NAMELESS.fullmatch(stem) and pure.parent.name:
        return pure.parent.name, suffix
    part = _PART.fullmatch(stem)
    return (part["table"] if part else stem), suffix


def find_tables(paths: Iterable[str | Path]) -> tuple[TableFiles, ...]:
    """The tables in files and folders, by name; of a folder its files and those of its folders of parts.

    Raises ConfigurationError where there is none, or where a name cannot be that of a table.
    """
    grouped: dict[tuple[str, str], list[Path]] = {}
    looked = []
    for given in paths:
        path = Path(given).expanduser()
        looked.append(str(path))
        for file in _files_in(path):
            # An absolute path, so that a part in the current folder has a parent with a name.
            table, suffix = table_of(file.absolute().as_posix())
            if not table:
                raise ConfigurationError(
                    f"{file} is no file of a table.", remedy=f"Files end in {', '.join(SUFFIXES)}."
                )
            grouped.setdefault((table, suffix), []).append(file)
    if not grouped:
        raise ConfigurationError(
            f"There is no table in {', '.join(looked) or 'nothing'}.",
            remedy=f"Give files, or folders with files, that end in {', '.join(SUFFIXES)}.",
        )
    return _checked(
        [TableFiles(table, tuple(dict.fromkeys(files)), suffix) for (table, suffix), files in sorted(grouped.items())]
    )


def _files_in(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise ConfigurationError(
            f"There is no file or folder {path}.",
            remedy="Check the path; a relative one starts at the current directory.",
        )
    found = [file for file in sorted(path.iterdir()) if file.is_file() and _is_table(file)]
    for folder in sorted(path.iterdir()):
        if folder.is_dir() and not folder.name.startswith((".", "_")):
            # Only parts: a table of another name in a folder of its own was not asked for.
            parts = [file for file in sorted(folder.iterdir()) if file.is_file() and _is_table(file)]
            found += [file for file in parts if table_of(file.absolute().as_posix())[0] == folder.name]
    return found


def _is_table(file: Path) -> bool:
    table = table_of(file.absolute().as_posix())[0]
    return bool(table) and (not table.startswith("_") or table == ROW_SOURCES_STEM)


def _checked(tables: Sequence[TableFiles]) -> tuple[TableFiles, ...]:
    by_name: dict[str, TableFiles] = {}
    for each in tables:
        other = by_name.setdefault(each.table.lower(), each)
        if other is not each:
            raise ConfigurationError(
                f"The table {each.table} is in both {other.paths[0]} and {each.paths[0]}.",
                remedy="Give one of them, or rename the other.",
            )
        if _UNUSABLE.search(each.table) or (each.table.startswith("_") and each.table != ROW_SOURCES_STEM):
            raise ConfigurationError(
                f"{each.paths[0]}: {each.table!r} cannot be the name of a table.",
                remedy="Rename the file: letters, digits and underscores, and a letter or digit first.",
            )
    return tuple(tables)


def record_file(
    path: Path, rows: Callable[[Path], int], *, name: str = "", progress: Callable[[int], None] | None = None
) -> FileRecord:
    """Checksum, size and rows of a file; `progress` is told the bytes read so far.

    Raises KnowledgeBaseError when it cannot be read.
    """
    sha, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as content:
            while block := content.read(_BLOCK):
                sha.update(block)
                size += len(block)
                if progress is not None:
                    progress(size)
    except OSError as e:
        raise KnowledgeBaseError(
            f"{path} cannot be read: {e.strerror or e}.", remedy="Check the file and its permissions."
        ) from e
    return FileRecord(name=name or path.name, sha256=sha.hexdigest(), bytes=size, rows=rows(path))


def count_rows(files: TableFiles) -> Callable[[Path], int]:
    """How the rows of a file are counted, by another reader than the one that loads them."""

    def parquet(path: Path) -> int:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return int(pq.read_metadata(path).num_rows)
        except (pa.ArrowException, OSError) as e:
            raise damaged(path, e) from e

    def text(path: Path) -> int:
        return _count_records(path, files.separator)

    return parquet if files.parquet else text


def read_header(path: Path, separator: str) -> list[str]:
    """The names of the columns of a text file.

    Raises KnowledgeBaseError when one has no name, or there is one twice (whatever its case, as in BigQuery).
    """
    with _records(path, separator) as records:
        names = next(records, [])
    if not names:
        raise damaged(path, ValueError("it has no header line"))
    seen: set[str] = set()
    for number, name in enumerate(names, 1):
        if not name:
            raise KnowledgeBaseError(
                f"{path}: column {number} has no name.",
                remedy="Name it; with pandas, write the file with index=False.",
            )
        if name.lower() in seen:
            raise damaged(path, ValueError(f"it has two columns {name!r}"))
        seen.add(name.lower())
    return names


def _count_records(path: Path, separator: str) -> int:
    """Records of a text file after its header, blank lines left out."""
    with _records(path, separator) as records:
        # In a table of one column a blank line is a row without a value.
        single = len(next(records, ())) == 1
        return sum(1 for record in records if record or single)


@contextmanager
def _records(path: Path, separator: str) -> Iterator[Iterator[list[str]]]:
    """The records of a text file by Python's own reader. Raises KnowledgeBaseError when they cannot be read."""
    import csv

    opened = gzip.open if path.name.lower().endswith(".gz") else open
    usual = csv.field_size_limit(_LONGEST_CELL)
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as lines:
            yield csv.reader(lines, delimiter=separator, strict=True)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, zlib.error) as e:
        raise damaged(path, e) from e
    finally:
        csv.field_size_limit(usual)


def damaged(path: Path | str, error: Exception) -> KnowledgeBaseError:
    """The error for a file whose content is not what its name says."""
    message = str(error).split("\n", 1)[0].rstrip(".")
    return KnowledgeBaseError(
        f"{path} cannot be read as the table that its name says: {message}.",
        remedy="The file may be damaged or cut off: fetch it again. Text must be UTF-8 with a header line.",
    )
