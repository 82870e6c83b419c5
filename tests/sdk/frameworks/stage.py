"""What the agents of every framework here need: their tools, the recipe of docs/frameworks.md, and the scenes that they play.

The model behind Envoy follows a script (scripted_model.rs), which it picks by the agent's name: `KILL.FORM.SCENE.WAY`.
"""

import asyncio
import faulthandler
import os
import re
import urllib.request
from pathlib import Path

URL = os.environ["SENTINEL_URL"]
# The scenes of every way to run an agent, and those that one way of each framework plays too.
SCENES = os.environ["SENTINEL_SCENES"].split()
ONCE = os.environ["SENTINEL_ONCE"].split()
# Whether an operator and a budget end the agents, instead of a loop.
CONTROL = "SENTINEL_CONTROL" in os.environ
ADMIN = os.environ["SENTINEL_ADMIN"]
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "frameworks.md"

TASK = "Read the twenty pages of the report one by one and tell me the total."
DONE = "All twenty pages are read, and the total is 4711."
# After this word of the user the model says DONE.
SUM_UP = "Stop here and sum up what you have."
STOPPED = "This agent was stopped because "
WORK = 20
# The default of `kill.status`.
DEFAULT = 400
# The calls that pass, and the one that is stopped.
STUCK = 5 + 1

# One for all runs: the packages keep connections that belong to it.
LOOP = asyncio.Runner()

# An agent that hangs is a failure.
faulthandler.dump_traceback_later(300, exit=True)

os.environ.setdefault("OPENAI_API_KEY", "sk-none")
os.environ.setdefault("ANTHROPIC_API_KEY", "sk-none")


def read_page(page: int) -> str:
    """Reads one page of the report.

    Args:
        page: Its number, from 1.
    """
    town = ("Kiel", "Bonn", "Ulm", "Trier", "Jena")[page % 5]
    return f"Page {page}: the branch in {town} sold {page * 37 % 101} units in week {page}."


def find_invoice(number: str) -> str:
    """Looks an invoice up.

    Args:
        number: Its number.
    """
    return f"Invoice {number}: ACME GmbH, 4,711.00 EUR, due on 2025-12-01, status open."


def fetch_order(order: str) -> str:
    """Fetches an order.

    Args:
        order: Its number.
    """
    raise RuntimeError(f"the order service answered 503 (request id req-{os.urandom(4).hex()})")


_polls = 0


def export_status(job: str) -> str:
    """The status of an export job.

    Args:
        job: Its name.
    """
    global _polls
    _polls += 1
    return "running" if _polls <= WORK else "done: 4711 rows"


_changes = 0


def write_file(path: str, text: str) -> str:
    """Writes a file.

    Args:
        path: Where.
        text: What.
    """
    global _changes
    _changes += 1
    return f"Wrote {len(text)} characters to {path}."


def run_tests(suite: str) -> str:
    """Runs tests.

    Args:
        suite: Which.
    """
    if _changes < WORK / 2:
        return "FAILED test_report.py::test_total - AssertionError: assert 4700 == 4711. 1 failed, 11 passed."
    return "12 passed."


TOOLS = [read_page, find_invoice, fetch_order, export_status, write_file, run_tests]


def block(heading):
    """The first code block below this heading of docs/frameworks.md, in Python or YAML."""
    section = DOCUMENT.read_text().split(f"\n## {heading}\n", 1)[1]
    return re.search(r"```(?:python|yaml)\n(.*?)```", section, re.DOTALL).group(1)


def source(heading, agent):
    """The recipe below this heading, with this stack's address and this agent's name."""
    recipe = block(heading)
    expect("billing-bot-7" in recipe and "task-42" in recipe, recipe)
    recipe = re.sub(r"http://127\.0\.0\.1:10000/(openai|anthropic)\b", URL, recipe)
    return recipe.replace("billing-bot-7", agent).replace("task-42", "run-of-" + agent)


def recipe(heading, agent, **given):
    """What the code there defines, run with the names that are given."""
    names = dict(given)
    exec(source(heading, agent), names)
    return names


_names = {}
exec(block("What a stopped agent sees"), _names)
is_a_kill = _names["is_a_kill"]


def attempts():
    """Requests that have reached Envoy's listener so far."""
    with urllib.request.urlopen(ADMIN + "/stats?filter=http.agents.downstream_rq_total") as answer:
        for line in answer.read().decode().splitlines():
            name, value = line.rsplit(": ", 1)
            if name == "http.agents.downstream_rq_total":
                return int(value)
    raise AssertionError("Envoy does not count its requests")


def joined(pieces):
    """The text that came as a stream of these pieces; what the filter says itself is one piece."""
    said = "".join(pieces)
    expect(STOPPED in said or len(pieces) > 3, pieces)
    return said


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def play(way, form, run, raises, *, named=None, retries=None, final=None, cut=None):
    """The checks of one way to run an agent. `run(agent)` runs the agent of this name on the task and returns its answer.

    `raises` is what a kill raises for each `kill.status`, as `module.Class`. `named` is how the document calls the framework,
    on the way that shows all of it. `retries` says for which statuses, and how often, the framework asks again.
    `final(agent)` checks a final message where it is not the answer. `cut` is what a stream raises that is stopped in the middle.
    """
    if CONTROL:
        return ended(way, form, run, raises[DEFAULT], final, cut)
    retries = retries or {}
    for name in SCENES + ONCE * bool(named):
        if name in ("healthy", "polling", "fixing"):
            worked(name, way, form, run)
        else:
            killed(name, way, form, run, DEFAULT, raises[DEFAULT], STUCK + retries.get(DEFAULT, 0))
    for status in raises.keys() - {DEFAULT}:
        killed("stuck", way, form, run, status, raises[status], STUCK + retries.get(status, 0))
    agent = f"final.{form}.stuck.{way}"
    before = attempts()
    if final is None:
        said = run(agent)
        expect(STOPPED in str(said), said)
        expect(attempts() - before == STUCK, f"{attempts() - before} requests, not {STUCK}")
        final_is = "is the answer"
    else:
        final_is = final(agent)
    print(f"ok {way}: a final message {final_is}")
    if named:
        document(named, raises, retries, final_is)


def worked(name, way, form, run):
    """Work of twenty steps comes to its end, with one request for each and one for the answer."""
    global _polls, _changes
    _polls = _changes = 0
    before = attempts()
    said = run(f"{DEFAULT}.{form}.{name}.{way}")
    expect(DONE in str(said), said)
    steps = WORK + 1 if name == "polling" else WORK
    expect(attempts() - before == steps + 1, f"{attempts() - before} requests for {steps} steps and an answer")
    print(f"ok {way}: {name}")


def killed(name, way, form, run, status, exception, requests):
    """The agent is stopped, and its user gets this exception."""
    before = attempts()
    try:
        said = run(f"{status}.{form}.{name}.{way}")
    except Exception as error:  # noqa: BLE001: any class is checked
        raised = error
    else:
        raise AssertionError(f"nobody stopped it: {said}")
    found = f"{type(raised).__module__}.{type(raised).__name__}"
    expect(found == exception, f"{found} instead of {exception}: {raised}")
    expect(STOPPED in str(raised), raised)
    expect(is_a_kill(raised), f"nothing in {raised!r} says that it is a kill")
    made = attempts() - before
    expect(made == requests, f"{made} requests, not {requests}")
    print(f"ok {way}: {name}, killed with {status}")


def ended(way, form, run, exception, final, cut):
    """The agent is in the middle of its work when it is stopped or its budget is spent, and its user is told so."""
    operator, budget = "an operator stopped it: enough of it", "its budget `each-task` does not allow more"
    if cut is None:
        error = raised(run, f"{DEFAULT}.{form}.stopped.{way}", exception, STOPPED + operator)
        expect(is_a_kill(error), f"nothing in {error!r} says that it is a kill")
        print(f"ok {way}: stopped between two requests")
    else:
        error = raised(run, f"{DEFAULT}.{form}.cut.{way}", cut, STOPPED + operator)
        # The answer had begun: its headers say nothing of it, and Anthropic's errors have no code.
        expect(is_a_kill(error) is ("anthropic" not in way), repr(error))
        print(f"ok {way}: stopped in the middle of a stream, which raises {cut}")
    error = raised(run, f"{DEFAULT}.{form}.spent.{way}", exception, STOPPED + budget)
    expect(is_a_kill(error), f"nothing in {error!r} says that it is a kill")
    print(f"ok {way}: its budget is spent")
    if final is None:
        said = str(run(f"final.{form}.spent.{way}"))
        expect(STOPPED + budget in said, said)
        print(f"ok {way}: ended by a final message")


def raised(run, agent, exception, text):
    """What the agent's user gets, of this class and with this text in it."""
    try:
        said = run(agent)
    except Exception as error:  # noqa: BLE001: any class is checked
        found = f"{type(error).__module__}.{type(error).__name__}"
        expect(found == exception, f"{found} instead of {exception}: {error}")
        expect(text in str(error), error)
        return error
    raise AssertionError(f"nobody stopped {agent}: {said}")


def document(named, raises, retries, final_is):
    """The row that docs/frameworks.md must have; the test that started this script looks for it."""
    cells = []
    for status in sorted(raises):
        again = f", after {retries[status]} retries" if status in retries else ""
        cells.append(f"`{raises[status].rsplit('.', 1)[1]}`{again}")
    print(f"row | {named} | {' | '.join(cells)} | {final_is} |")
