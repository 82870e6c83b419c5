"""Draws what the demo prints as docs/images/demo.svg: `make demo | python3 tests/docs/terminal.py 1 4 > docs/images/demo.svg`.

The arguments are the scenes to show. Everything is as it was printed. Notes below a step are broken into lines; other long lines end with
an ellipsis.
"""

import html
import re
import sys
import textwrap

LINE = 19
WIDTH = 118
COLOURS = {"allow": "#7ee787", "hint": "#e3b341", "kill": "#ff7b72"}


def scenes(text: str, wanted: list[str]) -> list[str]:
    """The lines of these scenes, and the last two of all: how it went, and what comes next."""
    lines = []
    for scene in text.split("\n\n"):
        if scene.split(".")[0].strip() in wanted:
            lines += scene.strip("\n").split("\n") + [""]
    return lines + text.strip().split("\n")[-2:]


NOTE = " " * 8


def shortened(line: str) -> list[str]:
    if len(line) <= WIDTH:
        return [line]
    if line.startswith(NOTE):
        return textwrap.wrap(line, WIDTH, subsequent_indent=NOTE, drop_whitespace=True, break_on_hyphens=False)
    return [line[:WIDTH - 1] + "…"]


def drawn(line: str) -> str:
    text = html.escape(line, quote=False)
    for verdict, colour in COLOURS.items():
        text = re.sub(rf"(?<=\s){verdict}(?=\s)", f'<tspan fill="{colour}">{verdict}</tspan>', text) if re.match(r"^ +\d", line) else text
    return text


def main() -> None:
    text = sys.stdin.read()
    lines = ["$ make demo", "…"] + [part for line in scenes(text, sys.argv[1:]) for part in shortened(line)]
    height = len(lines) * LINE + 60
    width = WIDTH * 7.83 + 40
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img" '
          'aria-label="What make demo prints">')
    print("<style>text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; font-size: 13px; fill: #e6edf3 }</style>")
    print(f'<rect width="{width:.0f}" height="{height}" rx="10" fill="#161b22"/>')
    for index, colour in enumerate(["#ff5f57", "#febc2e", "#28c840"]):
        print(f'<circle cx="{22 + 20 * index}" cy="20" r="6" fill="{colour}"/>')
    for index, line in enumerate(lines):
        print(f'<text x="20" y="{54 + index * LINE}" xml:space="preserve">{drawn(line)}</text>')
    print("</svg>")


if __name__ == "__main__":
    main()
