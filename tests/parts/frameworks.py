"""The parts that only the tests of agent frameworks use: the frameworks themselves, for Python and for Node.

They stand apart from `catalogue.py` so that a change here does not make the others again.
"""

import shutil
from pathlib import Path

from catalogue import PINS, REPOSITORY, Part, node_and_npm
from fetch import install_packages, npm_ci
from store import Store

NODE = REPOSITORY / "tests" / "sdk" / "frameworks"


def fill_frameworks_python(store: Store, to: Path) -> None:
    install_packages(PINS / "frameworks-python.txt", to / "frameworks-python")


def fill_frameworks_node(store: Store, to: Path) -> None:
    folder = to / "frameworks-node"
    folder.mkdir()
    for name in ["package.json", "package-lock.json"]:
        shutil.copy(NODE / name, folder / name)
    node, npm = node_and_npm(store)
    npm_ci(node, npm, folder)


PARTS = [
    Part("frameworks-python", "agent frameworks: LangChain, OpenAI Agents, Pydantic AI, smolagents, mini-swe-agent",
         ["frameworks-python"], [PINS / "frameworks-python.txt"], fill_frameworks_python, per_python=True),
    Part("frameworks-node", "agent framework: Vercel's AI SDK", ["frameworks-node"],
         [NODE / "package.json", NODE / "package-lock.json"], fill_frameworks_node),
]
