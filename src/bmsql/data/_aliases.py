"""Names and their synonyms, kept by column: half the size of rows, and split in half the time."""

from __future__ import annotations

import gzip
import zlib
from importlib.resources import files

from bmsql.errors import ConfigurationError, KnowledgeBaseError

_COLUMN, _CELL, _HEAD = "\x1d", "\n", "\x1f"


def aliases(name: str) -> dict[str, list[str]]:
    """The columns of an alias table (`genes`, `diseases`), in file order, all of the same length.

    An empty cell is `""`; several aliases in one cell are separated by `|`. Reading takes about
    30 ms for the genes and 4 ms for the diseases; nothing is cached, so that the caller decides.

    Raises ConfigurationError for an unknown name, KnowledgeBaseError if the file is damaged.
    """
    folder = files("bmsql.data") / "aliases"
    file = folder / f"{name}.gz"
    known = sorted(item.name.removesuffix(".gz") for item in folder.iterdir() if item.name.endswith(".gz"))
    if name not in known:
        raise ConfigurationError(f"There is no alias table {name!r}.", remedy=f"Known: {', '.join(known)}.")
    try:
        text = gzip.decompress(file.read_bytes()).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as e:
        raise KnowledgeBaseError(
            f"The alias table {name!r} inside the package is damaged: {e}.", remedy="Reinstall bmsql."
        ) from e
    head, *columns = text.split(_COLUMN)
    return dict(zip(head.split(_HEAD), (column.split(_CELL) for column in columns), strict=True))
