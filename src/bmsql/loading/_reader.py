"""Files as relations of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bmsql.loading._files import TableFiles, damaged, read_header

if TYPE_CHECKING:
    import duckdb

_GLOBBED = str.maketrans({"*": "[*]", "?": "[?]", "[": "[[]"})


@dataclass(frozen=True)
class FileRelation:
    """The files of a table as SQL for a FROM clause with its parameters, and the columns found in them.

    text: whether the files hold no types, so that every column is VARCHAR until it is converted.
    """

    file: str
    sql: str
    parameters: list[Any]
    columns: tuple[tuple[str, Any], ...]
    text: bool = False

    def kind(self, name: str) -> str:
        """DuckDB's name for the type of a column, whose case is ignored."""
        return str(next(kind for each, kind in self.columns if each.lower() == name.lower())).lower()


def open_files(
    connection: duckdb.DuckDBPyConnection, files: TableFiles, nulls: Sequence[str], *, typed: bool
) -> FileRelation:
    """The files of a table, described.

    typed: let DuckDB find the types of text from all of its lines; else everything is text. nulls: cells
    of text that stand for no value. Raises KnowledgeBaseError when the files cannot be read.
    """
    import duckdb

    paths = [str(path.absolute()).translate(_GLOBBED) for path in files.paths]
    parameters: list[Any]
    if files.parquet:
        sql, parameters = "read_parquet(?, union_by_name = false)", [paths]
    else:
        # Nothing is guessed but types: what was read must not depend on what the first lines look like.
        header = read_header(files.paths[0], files.separator)
        options = (
            "delim = ?, header = true, skip = 0, quote = '\"', escape = '\"', comment = '', nullstr = ?, "
            "compression = ?, strict_mode = true, allow_quoted_nulls = true"
        )
        compression = "gzip" if files.suffix.endswith(".gz") else "none"
        parameters = [paths, files.separator, list(nulls), compression]
        if typed:
            sql = f"read_csv(?, {options}, sample_size = -1, names = ?)"
            parameters.append(header)
        else:
            # The names become keys of a struct, which DuckDB takes as literals only.
            columns_ = ", ".join(f"'{name.replace(chr(39), chr(39) * 2)}': 'VARCHAR'" for name in header)
            sql = f"read_csv(?, {options}, auto_detect = false, columns = {{{columns_}}})"
    try:
        described = connection.execute(f"DESCRIBE SELECT * FROM {sql}", parameters)  # noqa: S608 - no name in it
        names = [row[0] for row in described.fetchall()]
        empty = connection.execute(f"SELECT * FROM {sql} LIMIT 0", parameters).description or []  # noqa: S608
    except duckdb.Error as e:
        raise damaged(files.paths[0], e) from e
    columns = tuple((name, column[1]) for name, column in zip(names, empty, strict=True))
    return FileRelation(
        file=str(files.paths[0]), sql=sql, parameters=parameters, columns=columns, text=not files.parquet and not typed
    )
