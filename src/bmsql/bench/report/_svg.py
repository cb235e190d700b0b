"""Figures as SVG elements, drawn in the page's colours; each has a title that says what it shows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from bmsql.bench.report._blocks import Bars, Radar, Scatter
from bmsql.bench.report._markup import Markup, element

# Colours are classes, so that the style sheet can choose them for light and for dark pages.
COLOURS = 8
_RINGS = (0.25, 0.5, 0.75, 1.0)
# Told apart by form too, not by colour alone.
_DASHES = ("", "7 4", "2 3", "9 3 2 3")
_ROUND = (1, 2, 2.5, 5, 10)


def radar(figure: Radar) -> Markup:
    """Shares by category around a circle; 100 % is the outermost ring."""
    size, centre, radius = 560, (280.0, 210.0), 150.0
    count = len(figure.axes)

    def place(axis: int, share: float) -> tuple[float, float]:
        angle = 2 * math.pi * axis / count - math.pi / 2
        return centre[0] + radius * share * math.cos(angle), centre[1] + radius * share * math.sin(angle)

    parts: list[Markup] = []
    for ring in _RINGS:
        parts.append(_polygon([place(axis, ring) for axis in range(count)], class_="grid"))
        x, y = place(0, ring)
        parts.append(_label(f"{100 * ring:.0f} %", x + 4, y + 12, class_="tick"))
    for axis, name in enumerate(figure.axes):
        x, y = place(axis, 1.0)
        parts.append(_line(centre[0], centre[1], x, y, class_="grid"))
        x, y = place(axis, 1.1)
        anchor = "middle" if abs(x - centre[0]) < 10 else "start" if x > centre[0] else "end"
        parts.append(_label(name, x, y + 4, text_anchor=anchor))
    for index, (label, values) in enumerate(figure.series):
        known = [(axis, value) for axis, value in enumerate(values) if value is not None]
        parts.append(
            _polygon([place(*one) for one in known], class_=f"series {_colour(index)}", stroke_dasharray=_dash(index))
        )
        for axis, value in known:
            x, y = place(axis, value)
            tip = f"{label}, {figure.axes[axis]}: {100 * value:.1f} %"
            parts.append(element("circle", element("title", tip), cx=x, cy=y, r=3.5, class_=f"mark {_colour(index)}"))
    return _figure(figure.title, size, 410, parts)


def scatter(figure: Scatter) -> Markup:
    """Points in a plane; published ones are hollow. Percentages from 0 to 100 upwards."""
    width, height, left, bottom, top, right = 720, 440, 60.0, 390.0, 20.0, 690.0
    both = [*figure.points, *figure.reference]
    highest = max((x for _, x, _ in both), default=0.0) or 1.0
    ticks = _ticks(highest)
    scale_x = _scale(ticks[-1], left, right)
    scale_y = _scale(100.0, bottom, top)
    parts = [_line(left, bottom, right, bottom, class_="axis"), _line(left, bottom, left, top, class_="axis")]
    for tick in ticks:
        x = scale_x(tick)
        parts += [_line(x, bottom, x, top, class_="grid"), _label(f"{tick:,.0f}", x, bottom + 18, text_anchor="middle")]
    for tick in range(0, 101, 20):
        y = scale_y(tick)
        parts += [_line(left, y, right, y, class_="grid"), _label(f"{tick}", left - 8, y + 4, text_anchor="end")]
    parts.append(_label(figure.x, (left + right) / 2, bottom + 40, text_anchor="middle"))
    parts.append(_label(figure.y, left + 6, top - 6))
    for label, x, y in figure.reference:
        tip = element("title", f"{label}: {x:,.0f} tokens, {y:.1f} %")
        parts.append(element("circle", tip, cx=scale_x(x), cy=scale_y(y), r=5.0, class_="hollow"))
    for index, (label, x, y) in enumerate(figure.points):
        tip = element("title", f"{label}: {x:,.0f} tokens, {y:.1f} %")
        class_ = f"mark {_colour(index)}"
        parts.append(element("circle", tip, cx=scale_x(x), cy=scale_y(y), r=7.0, class_=class_))
    return _figure(figure.title, width, height, parts)


def bars(figure: Bars) -> Markup:
    """Counts as horizontal bars, a group for each category."""
    width, left, right, thick, gap = 720, 160.0, 660.0, 14.0, 12.0
    highest = max((count for _, counts in figure.series for count in counts), default=0) or 1
    scale = _scale(float(highest), 0.0, right - left)
    parts: list[Markup] = []
    y = 8.0
    for place, category in enumerate(figure.categories):
        group = thick * len(figure.series)
        parts.append(_label(category, left - 10, y + group / 2 + 4, text_anchor="end"))
        for index, (label, counts) in enumerate(figure.series):
            count, length = counts[place], scale(float(counts[place]))
            tip = element("title", f"{label}, {category}: {count}")
            class_ = f"bar {_colour(index)}"
            parts.append(element("rect", tip, x=left, y=y, width=length, height=thick - 2, class_=class_))
            parts.append(_label(str(count), left + length + 5, y + thick - 4, class_="tick"))
            y += thick
        y += gap
    return _figure(figure.title, width, int(y), parts)


def legend(labels: Sequence[str], *, hollow: str = "") -> Markup:
    """What colour stands for what."""
    items = [
        element("li", element("span", class_=f"swatch {_colour(index)}", aria_hidden="true"), label)
        for index, label in enumerate(labels)
    ]
    if hollow:
        items.append(element("li", element("span", class_="swatch hollow", aria_hidden="true"), hollow))
    return element("ul", items, class_="legend")


def _figure(title: str, width: int, height: int, parts: Sequence[Markup]) -> Markup:
    box = f"0 0 {width} {height}"
    return element("svg", element("title", title), parts, viewBox=box, role="img", aria_label=title, width=width)


def _scale(highest: float, start: float, end: float) -> Callable[[float], float]:
    return lambda value: start + (end - start) * value / highest


def _ticks(highest: float) -> list[float]:
    """Round numbers from 0 to at least `highest`, some five of them."""
    rough = highest / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (*_ROUND, 10) if factor * power >= rough)
    return [step * number for number in range(math.ceil(highest / step) + 1)]


def _colour(index: int) -> str:
    return f"c{index % COLOURS}"


def _dash(index: int) -> str | None:
    return _DASHES[index // COLOURS % len(_DASHES)] or None


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _polygon(places: Sequence[tuple[float, float]], **attributes: str | None) -> Markup:
    return element("polygon", points=_points(places), **attributes)


def _line(x1: float, y1: float, x2: float, y2: float, **attributes: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def _label(text: str, x: float, y: float, **attributes: str) -> Markup:
    return element("text", text, x=x, y=y, **attributes)
