"""Pack names and synonyms into the package: `python scripts/pack_aliases.py DIR [--out FOLDER]`.

Each TSV in DIR (a header line, then rows) becomes NAME.gz: the header and then each column, joined
by the separators that `bmsql.data.aliases` splits by. The output is byte-identical from run to run.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "src" / "bmsql" / "data" / "aliases"
COLUMN, CELL, HEAD = "\x1d", "\n", "\x1f"


def pack(text: str) -> bytes:
    """The compressed, column-wise form of a TSV. Raises ValueError where a row has another width."""
    head, *rows = (line.split("\t") for line in text.rstrip("\n").split("\n"))
    columns = list(zip(*rows, strict=True))
    if len(columns) != len(head) or any(mark in text for mark in (COLUMN, HEAD, "\r")):
        raise ValueError("the rows do not have the width of the header, or a cell holds a separator")
    body = COLUMN.join([HEAD.join(head), *(CELL.join(column) for column in columns)])
    # mtime=0: the time of packing would make each run's bytes differ.
    return gzip.compress(body.encode("utf-8"), 9, mtime=0)


def main() -> None:
    """Pack every TSV of DIR."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for file in sorted(options.dir.glob("*.tsv")):
        try:
            packed = pack(file.read_text(encoding="utf-8"))
        except ValueError as e:
            sys.exit(f"{file}: {e}")
        (options.out / f"{file.stem}.gz").write_bytes(packed)
        print(f"{file.stem}: {len(packed)} bytes")


if __name__ == "__main__":
    main()
