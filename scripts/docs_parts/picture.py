"""The picture of the graph, drawn from the compiled graph."""

from __future__ import annotations

import re
from functools import cache
from xml.sax.saxutils import escape

from docs_parts.markdown import block, plain_environment

_NODE = re.compile(r"^    (\w+)(\(\[|\[)(.+?)(?:\]\)|\])$")
_EDGE = re.compile(r"^    (\w+) (-->|-\.->) (\w+)$")
_WIDTH, _HEIGHT, _STEP, _MIDDLE = 170, 36, 66, 320


@cache
def _diagram() -> str:
    from bmsql import Agent
    from bmsql.graph import diagram

    with plain_environment(), Agent() as agent:
        return diagram(agent.graph)


def graph_mermaid() -> str:
    """The graph as Mermaid text."""
    return block("text", _diagram())


def graph_picture() -> str:
    """The graph as SVG: nodes in one column, steps back on the left, steps ahead on the right."""
    lines = _diagram().splitlines()
    labels = {m[1]: (m[3], m[2] == "([") for m in map(_NODE.match, lines) if m}
    edges = [(m[1], m[3], m[2] == "-->") for m in map(_EDGE.match, lines) if m]
    order = _order(labels, edges)
    row = {node: place for place, node in enumerate(order)}
    height = _STEP * len(order) + 20
    size = f'width="{_MIDDLE * 8 // 5}" viewBox="0 0 {2 * _MIDDLE} {height}"'
    font = 'font-family="ui-sans-serif, system-ui, sans-serif" font-size="15"'
    tip = 'viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"'
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>',
        "<title>The graph of bmsql: its nodes, and the routes between them</title>",
        f'<rect width="{2 * _MIDDLE}" height="{height}" rx="8" fill="#ffffff"/>',
        f'<defs><marker id="tip" {tip}><path d="M0 0 8 4 0 8z" fill="#455a64"/></marker></defs>',
        '<g fill="none" stroke="#455a64" stroke-width="1.5" marker-end="url(#tip)">',
        *(_edge(row[source], row[target], solid) for source, target, solid in edges),
        "</g>",
        *(_box(row[node], *labels[node]) for node in order),
        "</svg>",
    ]
    return "\n".join(drawn)


def _order(labels: dict[str, tuple[str, bool]], edges: list[tuple[str, str, bool]]) -> list[str]:
    """The question, the nodes in the order of the graph, the answer."""
    from bmsql.graph._build import NODES

    ends = [node for node in labels if node not in NODES]
    starts = {source for source, _, _ in edges}
    first = [node for node in ends if node in starts]
    return [*first, *NODES, *(node for node in ends if node not in starts)]


def _y(row: int) -> int:
    return 38 + _STEP * row


def _box(row: int, label: str, rounded: bool) -> str:
    radius, fill = (_HEIGHT // 2, "#e0f2f1") if rounded else (5, "#f5f7f8")
    left, top = _MIDDLE - _WIDTH // 2, _y(row) - _HEIGHT // 2
    return (
        f'<rect x="{left}" y="{top}" width="{_WIDTH}" height="{_HEIGHT}" rx="{radius}" fill="{fill}" '
        f'stroke="#00796b"/><text x="{_MIDDLE}" y="{_y(row) + 5}" text-anchor="middle" fill="#102027">'
        f"{escape(label)}</text>"
    )


def _edge(source: int, target: int, solid: bool) -> str:
    style = "" if solid else ' stroke-dasharray="4 4"'
    half = _HEIGHT // 2
    if target == source + 1:
        path = f"M{_MIDDLE} {_y(source) + half} V{_y(target) - half - 1}"
    elif target == source:
        edge = _MIDDLE - _WIDTH // 2
        y = _y(source)
        path = f"M{edge} {y - 9} C{edge - 40} {y - 22} {edge - 40} {y + 22} {edge - 1} {y + 9}"
    else:
        side = 1 if target > source else -1
        edge = _MIDDLE + side * _WIDTH // 2
        bend = edge + side * (22 + 27 * abs(target - source))
        down = 6 if target > source else -6
        start, end = _y(source) + down, _y(target) - down
        path = f"M{edge} {start} C{bend} {start} {bend} {end} {edge + side} {end}"
    return f'<path d="{path}"{style}/>'
