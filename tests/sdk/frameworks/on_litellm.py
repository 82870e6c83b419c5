"""Agents on LiteLLM: the text agent of mini-swe-agent (fenced bash in, what it printed out), and LiteLLM's Router."""

import os
import tempfile
from pathlib import Path

os.environ["MSWEA_SILENT_STARTUP"] = "1"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import minisweagent
import tenacity.nap
import yaml
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_textbased_model import LitellmTextbasedModel

import stage

RAISES = {
    400: "litellm.exceptions.BadRequestError",
    401: "litellm.exceptions.AuthenticationError",
    403: "litellm.exceptions.APIError",
    404: "litellm.exceptions.NotFoundError",
    422: "litellm.exceptions.BadRequestError",
}
RETRIES = {400: 9, 403: 9, 422: 9}
# The commands of the scenes, as shell scripts.
COMMANDS = {
    "read_page": 'echo "Page $1: the branch sold $(($1 * 37 % 101)) units in week $1."',
    "find_invoice": 'echo "Invoice $1: ACME GmbH, 4,711.00 EUR, due on 2025-12-01, status open."',
    "fetch_order": 'echo "the order service answered 503 (request id req-$(od -An -N4 -tx4 /dev/urandom | tr -d " "))" >&2; exit 1',
    "write_file": 'echo >> changes; echo "Wrote ${#2} characters to $1."',
    "run_tests": 'if [ "$(wc -l < changes)" -lt 10 ]; then echo "FAILED test_report.py::test_total - AssertionError: assert 4700 == 4711"; '
    'echo "1 failed, 11 passed"; exit 1; fi; echo "12 passed"',
    "export_status": 'echo >> polls; if [ "$(wc -l < polls)" -le 20 ]; then echo running; else echo "done: 4711 rows"; fi',
}
SHIPPED = yaml.safe_load((Path(minisweagent.__file__).parent / "config" / "mini_textbased.yaml").read_text())


class Clock:
    """Between tries it waits for minutes: here the time is summed up instead."""

    waited = 0
    waits = 0

    @classmethod
    def sleep(cls, seconds):
        cls.waited += seconds
        cls.waits += 1


tenacity.nap.time = Clock
litellm.suppress_debug_info = True


def run(agent):
    recipe = yaml.safe_load(stage.source("mini-swe-agent and LiteLLM", agent))["model"]
    model = LitellmTextbasedModel(**{**SHIPPED["model"], **recipe})
    settings = {name: SHIPPED["agent"][name] for name in ("system_template", "instance_template")}
    with tempfile.TemporaryDirectory() as folder:
        for name, command in COMMANDS.items():
            script = Path(folder, name)
            script.write_text(f"#!/bin/sh\n{command}\n")
            script.chmod(0o755)
        ended = DefaultAgent(model, LocalEnvironment(cwd=folder), **settings).run(stage.TASK)
    return ended["submission"]


def final(agent):
    """It costs nothing, and a message that costs nothing is an error for it."""
    before = stage.attempts()
    try:
        said = run(agent)
    except RuntimeError as error:
        stage.expect("Cost must be > 0.0" in str(error), error)
    else:
        raise AssertionError(f"it ended with {said}")
    stage.expect(stage.attempts() - before == stage.STUCK, f"{stage.attempts() - before} requests")
    return "raises `RuntimeError`, because it has no price"


def routed(status):
    """How LiteLLM's Router treats a kill, for the killed agent and for the next request."""
    deployment = {"model": "openai/gpt-4o-mini", "api_base": stage.URL + "/v1"}
    router = litellm.Router(model_list=[{"model_name": "m", "litellm_params": deployment}], num_retries=2, retry_after=0)

    def ask(agent, messages):
        headers = {"x-agent-id": agent, "x-run-id": f"run-of-{agent}"}
        return router.completion(model="m", messages=messages, extra_headers=headers)

    history = [{"role": "user", "content": stage.TASK}]
    for turn in range(stage.STUCK - 1):
        call = {"name": "find_invoice", "arguments": '{"number": "2025-0117"}'}
        called = [{"id": f"call_{turn}", "type": "function", "function": call}]
        history.append({"role": "assistant", "content": None, "tool_calls": called})
        history.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": stage.find_invoice("2025-0117")})
    before = stage.attempts()
    try:
        ask(f"{status}.tool.stuck.routed", history)
    except tuple({getattr(litellm.exceptions, name.rsplit(".", 1)[1]) for name in RAISES.values()}) as error:
        raised = error
    else:
        raise AssertionError("nobody stopped it")
    # What it comes from is not always kept, so that its text alone says what it is.
    stage.expect(stage.STOPPED in str(raised), repr(raised))
    again = stage.attempts() - before - 1
    try:
        ask(f"{status}.tool.healthy.routed", [{"role": "user", "content": stage.SUM_UP}])
        other = "its answer"
    except litellm.types.router.RouterRateLimitError as error:
        other = f"`{type(error).__name__}`"
    print(f"row | {status} | {again} | {other} |")
    print(f"ok litellm.Router: {status}")


named = "[mini-swe-agent](#mini-swe-agent-and-litellm)"
stage.play("mini-swe-agent", "bash", run, RAISES, named=named, retries=RETRIES, final=final)
if not stage.CONTROL:
    print(f"row {Clock.waited * RETRIES[400] / Clock.waits:.0f} seconds in all")
    for status in sorted(RAISES):
        routed(status)
