"""Write the parts of the documentation that come from the code.

In README.md and docs/*.md, what stands between `<!-- generated:NAME -->` and `<!-- /generated:NAME -->`
is the output of the generator NAME (see `docs_parts`). A generator whose name has a suffix, such as
`graph.svg`, writes that file into docs/. Without arguments everything is written anew; with `--check`
nothing is written, and the exit code is 1 when something is stale. `--only NAME` looks at one generator.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from docs_parts import GENERATORS  # noqa: E402

BLOCK = re.compile(
    r"(?P<open><!-- generated:(?P<name>[\w-]+) -->\n).*?(?P<close>\n<!-- /generated:(?P=name) -->)", re.DOTALL
)
MARKER = re.compile(r"<!-- /?generated:([\w-]+) -->")


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
    wanted = {name for name in GENERATORS if "." not in name}
    if used != wanted:
        print(f"markers and generators differ: {', '.join(sorted(used ^ wanted))}", file=sys.stderr)
        return 1
    names = [options.only] if options.only else sorted(GENERATORS)
    generated: dict[str, str] = {}
    failed = False
    for name in names:
        try:
            generated[name] = GENERATORS[name]()
        except ValueError as error:
            # The other parts are written all the same.
            failed = True
            print(f"{name}: {error}", file=sys.stderr)

    fresh: dict[Path, str] = {}
    for page, text in texts.items():
        try:
            fresh[page] = render(text, generated)
        except ValueError as error:
            print(f"{page.relative_to(ROOT).as_posix()}: {error}", file=sys.stderr)
            return 1
    for name, content in generated.items():
        if "." in name:
            file = ROOT / "docs" / name
            texts[file] = file.read_text(encoding="utf-8") if file.exists() else ""
            fresh[file] = content.strip("\n") + "\n"

    stale = 0
    for page, new in fresh.items():
        name, text = page.relative_to(ROOT).as_posix(), texts[page]
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
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
