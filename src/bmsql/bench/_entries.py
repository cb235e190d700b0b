"""Small tables that people write: CSV, a YAML list, or JSON lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bmsql.bench._files import no_yaml, open_text
from bmsql.errors import BenchmarkFileError


def read_entries(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Mappings of a CSV, a YAML list or JSON lines, each with its line. Raises BenchmarkFileError."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        table = csv.DictReader(open_text(path))
        for row in table:
            yield table.line_num, {str(name): value for name, value in row.items()}
    elif suffix == ".jsonl":
        for line, text in enumerate(open_text(path), 1):
            if text.strip():
                yield line, _mapping(_json(text, path, line), path, line)
    elif suffix in {".yaml", ".yml"}:
        try:
            entries = yaml.safe_load("".join(open_text(path)))
        except yaml.YAMLError as error:
            raise no_yaml(error, path) from error
        for number, entry in enumerate(entries if isinstance(entries, list) else [entries], 1):
            yield number, _mapping(entry, path, number)
    else:
        raise BenchmarkFileError(
            "files of this kind are not read.", file=str(path), remedy="Give .csv, .yaml or .jsonl."
        )


def _json(text: str, path: Path, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BenchmarkFileError(f"{error}.", file=str(path), line=line, remedy="One JSON object a line.") from error


def _mapping(entry: Any, path: Path, line: int) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise BenchmarkFileError("an entry is no mapping.", file=str(path), line=line, remedy="Give id and answer.")
    return entry
