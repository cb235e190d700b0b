"""Execute the notebooks under examples/ and store their outputs.

With `--check` nothing is written, and the exit code is 1 when a stored output is not what running the
notebook gives. Times, which differ from run to run, are not stored. Needs the extra `notebook`.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
TIMES = re.compile(r"\b\d+(?:\.\d+)?(?= m?s\b)")


def execute(path: Path) -> Any:
    """The notebook with fresh outputs, without what differs between machines and runs.

    Raises CellExecutionError when a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],
    ).execute()
    for cell in notebook.cells:
        cell.metadata = {}
        if "outputs" in cell:
            cell.outputs = _joined(cell.outputs)
        for output in cell.get("outputs", []):
            if output["output_type"] in {"display_data", "execute_result"}:
                output["metadata"] = {}
                # What is shown as HTML need not be stored as text too.
                shown = {kind: data for kind, data in output["data"].items() if kind == "text/html"} or output["data"]
                output["data"] = {kind: TIMES.sub("...", data) for kind, data in shown.items()}
            elif output["output_type"] == "stream":
                output["text"] = TIMES.sub("...", output["text"])
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def _joined(outputs: list[Any]) -> list[Any]:
    """The outputs with texts in a row as one: where a kernel cuts them is chance."""
    kept: list[Any] = []
    for output in outputs:
        last = kept[-1] if kept else None
        if last and output["output_type"] == last["output_type"] == "stream" and output["name"] == last["name"]:
            last["text"] += output["text"]
        else:
            kept.append(output)
    return kept


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a stored output is stale")
    parser.add_argument("notebooks", nargs="*", type=Path, help="by default all under examples/")
    options = parser.parse_args(arguments)
    # Settings of one's own must not end up in what is stored.
    for name in [name for name in os.environ if name.startswith("BMSQL_") and name != "BMSQL_CACHE_DIR"]:
        del os.environ[name]
    stale = 0
    for path in options.notebooks or sorted((ROOT / "examples").glob("*.ipynb")):
        old = path.read_text(encoding="utf-8")
        new = nbformat.writes(execute(path)).rstrip("\n") + "\n"
        if new == old:
            continue
        stale += 1
        if options.check:
            sys.stderr.writelines(
                difflib.unified_diff(old.splitlines(True), new.splitlines(True), path.name, "executed")
            )
        else:
            path.write_text(new, encoding="utf-8")
            print(f"wrote {path.name}")
    return int(bool(stale) and options.check)


if __name__ == "__main__":
    sys.exit(main())
