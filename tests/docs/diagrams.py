"""Draws the diagrams of the documents: docs/images/flow.svg, deployments.svg, kubernetes.svg, kill.svg.

    python3 tests/docs/diagrams.py            writes them
    python3 tests/docs/diagrams.py --check    writes nothing, and fails where one is not what would be written

A diagram is a list of shapes with their places. Boxes widen for nobody: a text that does not fit is an error.
"""

import sys
from html import escape
from pathlib import Path

IMAGES = Path(__file__).resolve().parent.parent.parent / "docs" / "images"

# Both colours of each class have enough contrast to their background, so the picture is readable on any page.
STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de }
  .box { fill: #f6f8fa; stroke: #59636e }
  .ours { fill: #ddf4ff; stroke: #0969da }
  .question { fill: #fff8c5; stroke: #bf8700 }
  .bad { fill: #ffebe9; stroke: #cf222e }
  .frame { fill: none; stroke: #8250df; stroke-dasharray: 5 4 }
  text { font-family: -apple-system, "Segoe UI", Helvetica, Arial, "DejaVu Sans", sans-serif; font-size: 14px; fill: #1f2328; text-anchor: middle }
  .name { font-weight: bold }
  .quiet { fill: #59636e; font-size: 12.5px }
  .line { stroke: #1f2328; stroke-width: 1.6; fill: none }
  .head { fill: #1f2328 }
  .hint { fill: #9a6700; font-size: 13px; font-weight: bold }
  .kill { fill: #cf222e; font-size: 13px; font-weight: bold }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    .box { fill: #151b23; stroke: #9198a1 }
    .ours { fill: #121d2f; stroke: #4493f8 }
    .question { fill: #2e2a1f; stroke: #d29922 }
    .bad { fill: #2d1215; stroke: #f85149 }
    .frame { stroke: #ab7df8 }
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .line { stroke: #f0f6fc }
    .head { fill: #f0f6fc }
    .hint { fill: #d29922 }
    .kill { fill: #f85149 }
  }
"""
LINE = 18
# About so wide is a character of a name and of a quiet line.
NAME, QUIET = 7.9, 6.5


class Diagram:
    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.shapes: list[str] = []

    def text(self, x: float, y: float, text: str, style: str = "quiet") -> None:
        self.shapes.append(f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(text)}</text>')

    def box(self, x: int, y: int, width: int, height: int, name: str, *lines: str, style: str = "box") -> None:
        """With its texts in the middle."""
        longest = max([len(name) * NAME, *(len(line) * QUIET for line in lines)])
        if longest > width - 8 or (1 + len(lines)) * LINE > height:
            sys.exit(f"diagrams: {name!r} does not fit into {width} by {height}")
        self.shapes.append(f'<rect class="{style}" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>')
        first = y + height / 2 - len(lines) * LINE / 2 + 5
        self.text(x + width / 2, first, name, "name")
        for at, line in enumerate(lines, 1):
            self.text(x + width / 2, first + at * LINE, line)

    def frame(self, x: int, y: int, width: int, height: int, name: str, below: bool = False) -> None:
        self.shapes.append(f'<rect class="frame" x="{x}" y="{y}" width="{width}" height="{height}" rx="10"/>')
        self.text(x + width / 2, y + height - 8 if below else y + 18, name)

    def arrow(self, *points: tuple[float, float], both: bool = False) -> None:
        path = "M" + " L".join(f"{x:g} {y:g}" for x, y in points)
        start = ' marker-start="url(#head)"' if both else ""
        self.shapes.append(f'<path class="line" d="{path}" marker-end="url(#head)"{start}/>')

    def svg(self) -> str:
        body = "\n".join(self.shapes)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
                f'height="{self.height}" role="img" aria-labelledby="title">\n<title id="title">{escape(self.title)}</title>\n'
                f'<style>{STYLE}</style>\n<defs>\n  <marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
                'markerHeight="8" orient="auto-start-reverse"><path class="head" d="M0 0 L10 5 L0 10 z"/></marker>\n</defs>\n'
                f'<rect class="card" x="1" y="1" width="{self.width - 2}" height="{self.height - 2}" rx="10"/>\n{body}\n</svg>\n')


def flow() -> Diagram:
    d = Diagram(820, 330, "An agent's request goes through Envoy with the Agent Sentinel filter to the provider, and the answer comes back the "
                          "same way. The filter asks the embedding service, which keeps earlier prompts and answers in memory or in Redis.")
    d.box(16, 60, 150, 84, "Agent", "another base URL", "and two headers")
    d.frame(254, 20, 280, 164, "Envoy")
    d.box(276, 48, 236, 118, "Agent Sentinel filter", "finds loops: hint or kill", "policy, guard, bounds, marks", "cleans and counts answers",
          style="ours")
    d.box(640, 60, 164, 84, "LLM provider", "OpenAI, Anthropic,", "Gemini, Bedrock, ...")
    d.arrow((166, 84), (272, 84))
    d.arrow((276, 124), (170, 124))
    d.text(210, 74, "request")
    d.text(210, 142, "answer")
    d.text(210, 160, "or a kill", "kill")
    d.arrow((512, 84), (636, 84))
    d.arrow((640, 124), (516, 124))
    d.text(586, 74, "request", "quiet")
    d.text(586, 100, "with a hint", "hint")
    d.text(580, 142, "answer")
    d.box(254, 244, 280, 66, "Embedding service", "similarity, stored answers,", "runs, stops, budgets", style="ours")
    d.arrow((372, 166), (372, 240))
    d.arrow((412, 244), (412, 170))
    d.text(294, 208, "new prompt, report")
    d.text(512, 208, "similarity, stored answer,")
    d.text(512, 224, "within 50 ms")
    d.box(640, 244, 164, 66, "Store", "memory or Redis")
    d.arrow((534, 277), (636, 277), both=True)
    return d


def deployments() -> Diagram:
    d = Diagram(900, 420, "Which deployment: to try it, make up. Without Kubernetes: Compose, the archive, or your own Envoy. On Kubernetes: the "
                          "overlays for Istio and Envoy Gateway, else the Helm chart, standalone or cluster.")
    d.box(24, 24, 190, 52, "Only to try it?", style="question")
    d.arrow((214, 50), (296, 50))
    d.text(254, 42, "yes")
    d.box(300, 24, 250, 52, "make demo, make up", "Get started")
    d.arrow((119, 76), (119, 122))
    d.text(134, 102, "no")
    d.box(24, 126, 190, 52, "On Kubernetes?", style="question")
    d.arrow((214, 152), (296, 152))
    d.text(254, 144, "no")
    d.box(300, 126, 190, 52, "An Envoy of yours?", style="question")
    d.arrow((490, 152), (606, 152))
    d.text(546, 144, "yes")
    d.box(610, 126, 266, 52, "add the filter to it", "Your own Envoy")
    d.arrow((395, 178), (395, 206), (606, 206))
    d.text(546, 198, "no, containers")
    d.box(610, 190, 266, 40, "Compose")
    d.arrow((395, 206), (395, 260), (606, 260))
    d.text(546, 252, "no, programs")
    d.box(610, 242, 266, 40, "Install without a toolchain")
    d.arrow((119, 178), (119, 312))
    d.text(136, 250, "yes")
    d.box(24, 316, 190, 66, "A mesh or gateway", "that has Envoy already?", style="question")
    d.arrow((214, 336), (296, 336))
    d.text(254, 328, "yes")
    d.box(300, 310, 190, 52, "Istio, Envoy Gateway")
    d.arrow((214, 370), (250, 370), (250, 390), (606, 390))
    d.text(546, 382, "no")
    d.box(610, 318, 266, 84, "Helm chart", "mode standalone: one pod, no Redis", "mode cluster: more load, Redis", style="ours")
    return d


def kubernetes() -> Diagram:
    d = Diagram(900, 430, "The Helm chart in mode cluster: agents reach the Service agent-gateway. Envoy pods ask the embedding service in their "
                          "own zone, whose replicas share one Redis. Only Envoy reaches providers.")
    d.box(16, 130, 150, 84, "Agents", "in a namespace with", "the label")
    d.frame(196, 20, 480, 394, "namespace agent-sentinel: everything else is closed by NetworkPolicies")
    d.box(216, 130, 150, 84, "Service", "agent-gateway", "port 80")
    d.arrow((166, 172), (212, 172))
    d.frame(392, 56, 268, 196, "pods agent-gateway: 2 to 8")
    d.box(412, 84, 228, 66, "Envoy with the filter", "zone a", style="ours")
    d.box(412, 170, 228, 66, "Envoy with the filter", "zone b", style="ours")
    d.arrow((366, 160), (408, 120))
    d.arrow((366, 184), (408, 202))
    d.box(716, 100, 168, 84, "LLM providers", "public addresses,", "port 443")
    d.arrow((640, 117), (712, 132))
    d.arrow((640, 203), (712, 156))
    d.frame(392, 268, 268, 132, "pods embedding-service: 2 to 8", below=True)
    d.box(404, 282, 120, 84, "Service", "zone a", style="ours")
    d.box(532, 282, 120, 84, "Service", "zone b", style="ours")
    d.arrow((464, 236), (464, 278))
    d.arrow((592, 236), (592, 278))
    d.box(216, 306, 150, 66, "Redis", "one pod, or yours")
    d.arrow((404, 340), (370, 340))
    d.box(216, 56, 150, 50, "Secrets", "keys, clients, Redis")
    d.box(716, 300, 168, 84, "Prometheus", "namespace monitoring,", "ports 9902 and 9464")
    d.arrow((716, 330), (656, 330))
    d.arrow((800, 300), (800, 260), (664, 230))
    return d


def kill() -> Diagram:
    d = Diagram(900, 400, "The life of a kill: two requests pass, two get a hint, the fifth is killed. The same history is killed again. A new user "
                          "text passes once; if the loop goes on it is killed at the second step. A history without the loop is judged afresh.")
    for at, (name, line, style) in enumerate([
        ("1st time", "allow", "box"), ("2nd time", "allow", "box"), ("3rd time", "hint", "question"), ("4th time", "hint", "question"),
        ("5th time", "kill", "bad"),
    ]):
        x = 24 + at * 172
        d.box(x, 50, 140, 60, name, line, style=style)
        if at:
            d.arrow((x - 32, 80), (x - 4, 80))
    d.text(450, 32, "The agent makes the same call and gets the same result")
    d.arrow((782, 110), (782, 146))
    d.box(560, 150, 316, 66, "The filter answers: status 400", "The SDK raises it and does not retry.", "The provider sees nothing of it.",
          style="bad")
    d.text(300, 230, "Then the agent sends ...")
    d.arrow((600, 216), (600, 238), (140, 238), (140, 266))
    d.arrow((450, 238), (450, 266))
    d.arrow((700, 216), (700, 266))
    d.box(24, 270, 232, 46, "the same history again")
    d.box(334, 270, 232, 46, "a new text of the user")
    d.box(620, 270, 256, 46, "a history without the loop")
    d.arrow((140, 316), (140, 340))
    d.arrow((450, 316), (450, 340))
    d.arrow((748, 316), (748, 340))
    d.box(24, 344, 232, 40, "killed again", style="bad")
    d.box(300, 344, 300, 40, "passes", "if the loop goes on: killed at its 2nd step", style="question")
    d.box(620, 344, 256, 40, "judged afresh")
    return d


DIAGRAMS = {"flow.svg": flow, "deployments.svg": deployments, "kubernetes.svg": kubernetes, "kill.svg": kill}


def main() -> None:
    wanted = {name: draw().svg() for name, draw in DIAGRAMS.items()}
    if sys.argv[1:] == ["--check"]:
        wrong = [name for name, svg in wanted.items() if not (IMAGES / name).is_file() or (IMAGES / name).read_text() != svg]
        if wrong:
            sys.exit(f"out of date: {', '.join(wrong)}; run python3 tests/docs/diagrams.py")
    else:
        for name, svg in wanted.items():
            (IMAGES / name).write_text(svg)


if __name__ == "__main__":
    main()
