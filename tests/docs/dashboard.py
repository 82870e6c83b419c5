"""Draws the Grafana dashboard with the answers of a Prometheus: docs/images/dashboard.svg.

    python3 tests/docs/dashboard.py http://127.0.0.1:9090 START END    draws this time, in seconds since 1970
    python3 tests/docs/dashboard.py --check                            fails where the picture lacks a panel of the dashboard

Panels, places, units and questions are those of k8s/monitoring/agent-sentinel.json. Grafana draws the same in its own way.
"""

import argparse
import json
import math
import re
import sys
import time
import urllib.parse
import urllib.request
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DASHBOARD = ROOT / "k8s" / "monitoring" / "agent-sentinel.json"
PICTURE = ROOT / "docs" / "images" / "dashboard.svg"
ROWS = ["Verdicts", "Added latency", "Fail open", "Embedding service", "Money"]
LARGEST = 60_000
# Points of a line.
POINTS = 40
# In pixels: one of the 24 columns of Grafana's grid, a unit of its height, and what is between panels.
COLUMN, UNIT, GAP = 40, 21, 6
# About so wide is a character, and so high a line of a legend.
CHARACTER, LINE = 5.6, 14

# The colours of lines and of cells. Both of each have enough contrast to their background, so the picture is readable on any page.
LIGHT = ["#1a7f37", "#bf8700", "#0969da", "#cf222e", "#8250df", "#bc4c00", "#1b7c83", "#bf3989"]
DARK = ["#3fb950", "#d29922", "#4493f8", "#f85149", "#ab7df8", "#f0883e", "#39c5cf", "#db61a2"]
HEAT_LIGHT = ["#ffe7c7", "#ffc680", "#fb8f44", "#e16f24", "#bc4c00", "#762d0a"]
HEAT_DARK = ["#3d1300", "#762d0a", "#bc4c00", "#db6d28", "#ffa657", "#ffdfb6"]


def classes(lines: list[str], heat: list[str]) -> str:
    return " ".join([f".c{at} {{ color: {colour} }}" for at, colour in enumerate(lines)]
                    + [f".h{at} {{ fill: {colour} }}" for at, colour in enumerate(heat)])


STYLE = f"""
  .page {{ fill: #f6f8fa; stroke: #d0d7de }}
  .card {{ fill: #ffffff; stroke: #d0d7de }}
  text {{ font-family: -apple-system, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; font-size: 10.5px; fill: #59636e }}
  .row, .title {{ font-size: 12px; font-weight: bold; fill: #1f2328 }}
  .middle {{ text-anchor: middle }}
  .right {{ text-anchor: end }}
  .big {{ font-size: 21px; font-weight: bold; text-anchor: middle }}
  .grid {{ stroke: #d0d7de; stroke-width: .6; fill: none }}
  .line {{ stroke: currentColor; stroke-width: 1.4; fill: none; stroke-linejoin: round }}
  .area, .key, .big {{ fill: currentColor }}
  {classes(LIGHT, HEAT_LIGHT)}
  @media (prefers-color-scheme: dark) {{
    .page {{ fill: #010409; stroke: #3d444d }}
    .card {{ fill: #0d1117; stroke: #3d444d }}
    text {{ fill: #9198a1 }}
    .row, .title {{ fill: #f0f6fc }}
    .big {{ fill: currentColor }}
    .grid {{ stroke: #3d444d }}
    {classes(DARK, HEAT_DARK)}
  }}
"""
# From which size on Grafana takes which unit, and how it writes it.
SCALES = {"s": [(1, " s"), (1e-3, " ms"), (1e-6, " µs")], "ms": [(1000, " s"), (1, " ms")], "currencyUSD": [(1, "")],
          "short": [(1e6, " Mil"), (1e3, " K"), (1, "")], "reqps": [(1e3, "K req/s"), (1, " req/s")],
          "ops": [(1e3, "K ops/s"), (1, " ops/s")], "percentunit": [(.01, "%")]}

Values = list[float | None]


def scale(unit: str, largest: float) -> tuple[float, str, str]:
    """What a number is divided by, and what stands before and behind it."""
    size, behind = next((one for one in SCALES[unit] if largest >= one[0]), SCALES[unit][-1])
    return size, "$" if unit == "currencyUSD" else "", behind


def number(value: float, unit: str, decimals: int | None = None) -> str:
    """With `decimals` decimals, or with three significant digits."""
    size, before, behind = scale(unit, value)
    places = max(0, 2 - math.floor(math.log10(value / size))) if value else 0
    places = places if decimals is None else decimals
    text = f"{value / size:.{places}f}"
    return before + (text.rstrip("0").rstrip(".") if places else text) + behind


def trace(points: list[tuple[int, float]]) -> str:
    """A path from point to point, in few characters: each is told by how far it is from the one before."""
    points = [(x, round(y * 2) / 2) for x, y in points]
    points = [point for at, point in enumerate(points)
              if not 0 < at < len(points) - 1 or not points[at - 1][1] == point[1] == points[at + 1][1]]
    moves = [f"{x - x0} {y - y0:g}" for (x0, y0), (x, y) in zip(points, points[1:])]
    return f"M{points[0][0]} {points[0][1]:g}" + ("l" + " ".join(moves) if moves else "")


class Prometheus:
    def __init__(self, url: str, start: int, end: int, interval: str) -> None:
        self.url, self.start, self.end = url.rstrip("/"), start, end
        self.variables = {"$__rate_interval": interval, "$__range": f"{end - start}s", "$namespace": ".*"}
        self.step = max(1, (end - start) // POINTS)
        self.times = list(range(start, end + 1, self.step))

    def ask(self, target: dict) -> list[tuple[str, Values]]:
        """The name and the values of each line."""
        expression = target["expr"]
        for variable, value in self.variables.items():
            expression = expression.replace(variable, value)
        query = urllib.parse.urlencode({"query": expression, "start": self.start, "end": self.end, "step": self.step})
        with urllib.request.urlopen(f"{self.url}/api/v1/query_range?{query}", timeout=30) as answer:
            found = json.load(answer)["data"]["result"]
        lines = []
        for one in found:
            known = {round(at): float(value) for at, value in one["values"] if math.isfinite(float(value))}
            name = re.sub(r"{{(\w+)}}", lambda label: one["metric"].get(label[1], ""), target["legendFormat"])
            if known:
                lines.append((name, [known.get(at) for at in self.times]))
        return lines


class Panel:
    def __init__(self, panel: dict, top: int, data: Prometheus) -> None:
        grid, defaults = panel["gridPos"], panel["fieldConfig"]["defaults"]
        self.data, self.unit, self.decimals = data, defaults["unit"], defaults.get("decimals")
        self.custom = defaults.get("custom", {})
        self.x, self.y = 12 + grid["x"] * COLUMN + GAP // 2, top
        self.width, self.height = grid["w"] * COLUMN - GAP, grid["h"] * UNIT - GAP
        self.shapes = [f'<rect class="card" x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}" rx="3"/>']
        self.text(self.x + 8, self.y + 16, panel["title"], "title")
        if len(panel["title"]) * 7 > self.width - 12:
            sys.exit(f"dashboard: {panel['title']!r} does not fit into its panel")
        self.series = [line for target in panel["targets"] for line in data.ask(target)]
        if not self.series:
            self.text(self.x + self.width / 2, self.y + self.height / 2 + 10, "No data", "middle")
        else:
            {"stat": self.stat, "timeseries": self.lines, "heatmap": self.heatmap}[panel["type"]]()

    def text(self, x: float, y: float, text: str, style: str = "quiet") -> None:
        self.shapes.append(f'<text class="{style}" x="{x:.0f}" y="{y:.0f}">{escape(text)}</text>')

    def frame(self, left: float, top: float, right: float, bottom: float) -> None:
        """Where points may be."""
        self.left, self.top, self.right, self.bottom = left, top, right, bottom

    def at(self, when: float) -> float:
        return self.left + (self.right - self.left) * (when - self.data.start) / (self.data.end - self.data.start)

    def path(self, values: Values, floor: list[float], highest: float, colour: int, opacity: float) -> None:
        """A line with gaps where nothing is known, and below it an area down to the floor."""
        def spot(at: int, value: float) -> tuple[int, float]:
            return round(self.at(self.data.times[at])), self.bottom - (self.bottom - self.top) * value / highest

        pieces: list[list[int]] = [[]]
        for at, value in enumerate(values):
            if value is not None:
                pieces[-1].append(at)
            elif pieces[-1]:
                pieces.append([])
        line = area = ""
        for piece in filter(None, pieces):
            above = [spot(at, values[at]) for at in piece]
            back = piece[::-1] if any(floor) else [piece[-1], piece[0]]
            line += trace(above)
            area += trace(above + [spot(at, floor[at]) for at in back]) + "z"
        self.shapes.append(f'<g class="c{colour % len(LIGHT)}"><path class="area" opacity="{opacity:g}" d="{area}"/>'
                           f'<path class="line" d="{line}"/></g>')

    def stat(self) -> None:
        """The last value, over its course."""
        values = self.series[0][1]
        known = [value for value in values if value is not None]
        self.frame(self.x + 1, self.y + self.height - 22, self.x + self.width - 1, self.y + self.height - 2)
        self.path(values, [0.0] * len(values), max(known) or 1, 0, .15)
        self.shapes.append('<g class="c0">')
        self.text(self.x + self.width / 2, self.y + 46, number(known[-1], self.unit, self.decimals), "big")
        self.shapes.append("</g>")

    def legend(self) -> int:
        """The names of the lines at the bottom. It says how many lines of text they take."""
        spots, x, row = [], 0.0, 0
        for name, _ in self.series:
            width = len(name) * CHARACTER + 30
            if x and x + width > self.width - 10:
                x, row = 0.0, row + 1
            spots.append((x, row))
            x += width
        for colour, (name, _) in enumerate(self.series):
            x, y = self.x + 8 + spots[colour][0], self.y + self.height - 7 - (row - spots[colour][1]) * LINE
            self.shapes.append(f'<rect class="key c{colour % len(LIGHT)}" x="{x:.0f}" y="{y - 5}" width="13" height="3" rx="1"/>')
            self.text(x + 18, y, name)
        return row + 1

    def axes(self, labels: list[tuple[float, str]], legend: int) -> None:
        """The frame with the minutes below it, and labels at their share of its height."""
        left = self.x + 14 + max(len(text) for _, text in labels) * CHARACTER
        self.frame(left, self.y + 28, self.x + self.width - 16, self.y + self.height - 24 - legend * LINE)
        grid = ""
        for share, text in labels:
            y = self.bottom - (self.bottom - self.top) * share
            grid += f"M{self.left:.0f} {y:.1f}H{self.right:.0f}"
            self.text(self.left - 6, y + 4, text, "right")
        for minute in range(-(-self.data.start // 60) * 60, self.data.end + 1, 60 * max(1, (self.data.end - self.data.start) // 300)):
            grid += f"M{self.at(minute):.0f} {self.top:.0f}V{self.bottom:.0f}"
            self.text(self.at(minute), self.bottom + 13, time.strftime("%H:%M", time.gmtime(minute)), "middle")
        self.shapes.append(f'<path class="grid" d="{grid}"/>')

    def lines(self) -> None:
        stacked = self.custom["stacking"]["mode"] == "normal"
        floors, drawn = [[0.0] * len(self.data.times)], []
        for _, values in self.series:
            floor = floors[-1]
            drawn.append([value if value is None else value + low for value, low in zip(values, floor)])
            floors.append([low if value is None else value for value, low in zip(drawn[-1], floor)] if stacked else floor)
        highest = max(value for values in drawn for value in values if value is not None) or 1
        size, before, behind = scale(self.unit, highest)
        legend = self.legend()
        most = 4 if legend < 3 else 2
        step = next(step * 10 ** power for power in range(-9, 10) for step in (1, 2, 5) if highest / size <= most * step * 10 ** power)
        places = max(0, -math.floor(math.log10(step) + 1e-9))
        ticks = math.ceil(highest / size / step - 1e-9)
        labels = [f"{before}{at * step:.{places}f}{behind}" for at in range(ticks + 1)]
        labels[0] = number(0, self.unit) if self.unit == "short" else labels[0]
        self.axes([(at / ticks, text) for at, text in enumerate(labels)], legend)
        for colour, values in enumerate(drawn):
            self.path(values, floors[colour], ticks * step * size, colour, self.custom["fillOpacity"] / 100)

    def heatmap(self) -> None:
        """A bucket counts what the smaller ones count too. The difference is drawn: the stronger the colour, the more."""
        rows, lower = [], [0.0] * len(self.data.times)
        for name, values in sorted(self.series, key=lambda line: float(line[0])):
            values = [value or 0.0 for value in values]
            rows.append((name, [value - low for value, low in zip(values, lower)]))
            lower = values
        most = max(max(values) for _, values in rows) or 1
        while len(rows) > 1 and max(rows[-1][1]) < most / 1000:
            rows.pop()
        every = -(-len(rows) // 8)
        self.axes([((at + 1) / len(rows), number(float(name), self.unit)) for at, (name, _) in enumerate(rows)
                   if (len(rows) - 1 - at) % every == 0], 0)
        cells = [""] * len(HEAT_LIGHT)
        wide, high = (self.right - self.left) / len(self.data.times), (self.bottom - self.top) / len(rows)
        for at, (_, values) in enumerate(rows):
            for index, value in enumerate(values):
                if value > most / 1000:
                    x, y = self.left + index * wide, self.bottom - (at + 1) * high
                    strength = min(len(cells) - 1, int((value / most) ** .5 * len(cells)))
                    cells[strength] += f"M{x:.1f} {y:.1f}h{wide - .6:.1f}v{high - .6:.1f}h{.6 - wide:.1f}z"
        self.shapes += [f'<path class="h{at}" d="{path}"/>' for at, path in enumerate(cells) if path]


def rows_of(dashboard: dict, wanted: list[str]) -> dict[str, list[dict]]:
    """The wanted rows with their panels, in the dashboard's order."""
    rows: dict[str, list[dict]] = {}
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            rows[panel["title"]] = panels = []
        else:
            panels.append(panel)
    missing = [title for title in wanted if title not in rows]
    if missing:
        sys.exit(f"dashboard: there is no row {', '.join(missing)}")
    return {title: panels for title, panels in rows.items() if title in wanted}


def draw(dashboard: dict, wanted: list[str], data: Prometheus) -> str:
    rows = rows_of(dashboard, wanted)
    shapes, top = [], 12
    for title, panels in rows.items():
        shapes.append(f'<text class="row" x="17" y="{top + 13}">{escape(title)}</text>')
        top += UNIT
        first = min(panel["gridPos"]["y"] for panel in panels)
        for panel in panels:
            shapes += Panel(panel, top + (panel["gridPos"]["y"] - first) * UNIT, data).shapes
        top += max(panel["gridPos"]["y"] + panel["gridPos"]["h"] - first for panel in panels) * UNIT + 4
    width, height, body = 24 * COLUMN + 24, top + 4, "\n".join(shapes)
    name = f"The dashboard {dashboard['title']} with the rows {', '.join(rows)}"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
            f'aria-labelledby="title">\n<title id="title">{escape(name)}</title>\n<style>{STYLE}</style>\n'
            f'<rect class="page" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="8"/>\n{body}\n</svg>\n')


def main() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    if sys.argv[1:] == ["--check"]:
        picture = PICTURE.read_text()
        titles = [title for row, panels in rows_of(dashboard, ROWS).items() for title in [row, *(panel["title"] for panel in panels)]]
        missing = [title for title in titles if f">{escape(title)}</text>" not in picture]
        if missing:
            sys.exit(f"docs/images/dashboard.svg lacks {', '.join(missing)}: see tests/docs/dashboard.py")
        return
    reader = argparse.ArgumentParser()
    reader.add_argument("prometheus")
    reader.add_argument("start", type=int)
    reader.add_argument("end", type=int)
    reader.add_argument("--interval", default="15s", help="what $__rate_interval is: at least four times that of the scrapes")
    reader.add_argument("--rows", default=",".join(ROWS), help="titles with commas between them")
    given = reader.parse_args()
    svg = draw(dashboard, given.rows.split(","), Prometheus(given.prometheus, given.start, given.end, given.interval))
    if len(svg.encode()) > LARGEST:
        sys.exit(f"dashboard: {len(svg.encode())} bytes are too many")
    PICTURE.write_text(svg)


if __name__ == "__main__":
    main()
