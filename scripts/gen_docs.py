"""Write the parts of the documentation that come from the code.

In README.md and docs/*.md, what stands between `<!-- generated:NAME -->` and `<!-- /generated:NAME -->`
is the output of the generator NAME below. Without arguments the pages are rewritten; with `--check`
nothing is written, and the exit code is 1 when a page is stale. `--only NAME` looks at one generator.
"""

from __future__ import annotations

import argparse
import difflib
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(?P<open><!-- generated:(?P<name>[\w-]+) -->\n).*?(?P<close>\n<!-- /generated:(?P=name) -->)", re.DOTALL
)
MARKER = re.compile(r"<!-- /?generated:([\w-]+) -->")


def summary(thing: object) -> str:
    """Return the first sentence or line of a docstring, fit for a table cell."""
    text = inspect.getdoc(thing) or ""
    return " ".join(text.split("\n\n", 1)[0].split()).replace("|", "\\|")


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a Markdown table."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def error_tree() -> str:
    """Draw the tree of errors from the docstring of `bmsql.errors`."""
    from bmsql import errors

    drawing = inspect.cleandoc(errors.__doc__ or "").split("::\n\n", 1)[1].split("\n\n", 1)[0]
    return "```text\n" + inspect.cleandoc(drawing) + "\n```"


def error_table() -> str:
    """List every error with its meaning."""
    from bmsql import errors

    rows = [(f"`{name}`", summary(getattr(errors, name))) for name in errors.__all__]
    return table(("Error", "Raised when"), rows)


def api() -> str:
    """List every public name of the package, apart from the errors."""
    import bmsql
    from bmsql import errors

    names = [name for name in bmsql.__all__ if name not in errors.__all__ and not name.startswith("__")]
    return table(("Name", "What it is"), [(f"`bmsql.{name}`", summary(getattr(bmsql, name))) for name in names])


GENERATORS: dict[str, Callable[[], str]] = {
    "api": api,
    "error-table": error_table,
    "error-tree": error_tree,
}


def pages() -> list[Path]:
    """Return the pages that may have generated parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def render(text: str, generated: Mapping[str, str]) -> str:
    """Return the page with every generated part replaced; parts not in `generated` stay as they are.

    Raises ValueError for a marker without its counterpart.
    """
    blocks = [match["name"] for match in BLOCK.finditer(text)]
    markers = MARKER.findall(text)
    if sorted(markers) != sorted(blocks * 2):
        broken = sorted({name for name in markers if markers.count(name) != 2 * blocks.count(name)})
        raise ValueError(f"generated parts that are not opened and closed on lines of their own: {', '.join(broken)}")

    def fill(match: re.Match[str]) -> str:
        if match["name"] not in generated:
            return match[0]
        return match["open"] + "\n" + generated[match["name"]].strip("\n") + "\n" + match["close"]

    return BLOCK.sub(fill, text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a page is stale")
    parser.add_argument("--only", choices=sorted(GENERATORS), help="look at one generator")
    options = parser.parse_args(arguments)

    texts = {page: page.read_text(encoding="utf-8") for page in pages()}
    used = {name for text in texts.values() for name in MARKER.findall(text)}
    if used != set(GENERATORS):
        print(f"markers and generators differ: {', '.join(sorted(used ^ set(GENERATORS)))}", file=sys.stderr)
        return 1
    names = [options.only] if options.only else sorted(GENERATORS)
    generated = {name: GENERATORS[name]() for name in names}

    stale = 0
    for page, text in texts.items():
        name = page.relative_to(ROOT).as_posix()
        try:
            new = render(text, generated)
        except ValueError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        if new == text:
            continue
        stale += 1
        if options.check:
            sys.stderr.writelines(difflib.unified_diff(text.splitlines(True), new.splitlines(True), name, "generated"))
        else:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {name}")
    if stale and options.check:
        print(f"{stale} stale page(s): run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
