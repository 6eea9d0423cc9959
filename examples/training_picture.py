"""A picture of curves as SVG text: two panels, with logarithmic heights."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["picture"]

WIDTH, HEIGHT, LEFT, TOP = 380, 260, 60, 34
COLOURS: Final = ("#b0b0b0", "#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e")


def picture(title: str, panels: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """Return an SVG of panels beside each other; each has curves by name, of positive numbers over the steps.

    The names stand in the first panel; the first curve is drawn wide, beneath the others.
    """
    size = (LEFT + WIDTH + 20) * len(panels) + 10, TOP + HEIGHT + 44
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif" font-size="12">',
        f'<rect width="{size[0]}" height="{size[1]}" fill="white"/>',
        f"<title>{title}</title>",
    ]
    for place, (name, curves) in enumerate(panels.items()):
        lines += [
            f'<g transform="translate({LEFT + place * (LEFT + WIDTH + 20)} {TOP})">',
            *_panel(name, curves, has_legend=not place),
            "</g>",
        ]
    return "\n".join([*lines, "</svg>\n"])


def _panel(name: str, curves: Mapping[str, Sequence[float]], *, has_legend: bool) -> Iterator[str]:
    values = [value for curve in curves.values() for value in curve if value > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high += high == low
    steps = max(map(len, curves.values()))

    def point(step: int, value: float) -> str:
        height = (math.log10(max(value, 10.0**low)) - low) / (high - low)
        return f"{step * WIDTH / max(steps - 1, 1):.1f},{HEIGHT - height * HEIGHT:.1f}"

    yield f'<text x="{WIDTH / 2}" y="-14" text-anchor="middle" font-size="14">{name}</text>'
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#404040"/>'
    yield f'<text x="{WIDTH / 2}" y="{HEIGHT + 34}" text-anchor="middle">step</text>'
    for step in (0, (steps - 1) // 2, steps - 1):
        yield f'<text x="{step * WIDTH / max(steps - 1, 1):.1f}" y="{HEIGHT + 16}" text-anchor="middle">{step}</text>'
    for power in range(low, high + 1):
        y = HEIGHT - (power - low) * HEIGHT / (high - low)
        yield f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">1e{power}</text>'
        yield f'<line x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e4e4e4"/>'
    for number, (label, curve) in enumerate(curves.items()):
        colour, first = COLOURS[number % len(COLOURS)], number == 0
        points = " ".join(point(*each) for each in enumerate(curve))
        dashes = "" if first else f' stroke-dasharray="6 {6 * len(curves)}" stroke-dashoffset="{-6 * number}"'
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{6 if first else 2.5}"{dashes}/>'
        if has_legend:
            yield f'<text x="{WIDTH - 8}" y="{18 + 16 * number}" text-anchor="end" fill="{"#707070" if first else colour}">{label}</text>'
