"""Agents on smolagents: ToolCallingAgent, and CodeAgent, which writes Python; each streamed too."""

import os

from rich.console import Console
from smolagents import AgentLogger, LogLevel, tool

import stage

# It raises one class for all; what the openai package raised is its cause.
RAISES = dict.fromkeys((400, 401, 403, 404, 422), "smolagents.utils.AgentGenerationError")
TOOLS = [tool(one) for one in stage.TOOLS]
# What is streamed is printed whatever the level.
LOGGER = AgentLogger(level=LogLevel.OFF, console=Console(file=open(os.devnull, "w")))


def run(kind, **settings):
    def go(agent):
        recipe = stage.recipe("smolagents", agent, tools=TOOLS)
        return recipe[kind](TOOLS, recipe["model"], max_steps=30, logger=LOGGER, **settings).run(stage.TASK)

    return go


def final(run):
    """A message without a call, or without code, is a mistake of the model for it: it asks again, up to `max_steps`."""

    def check(agent):
        before = stage.attempts()
        said = run(agent)
        stage.expect(stage.STOPPED not in str(said), said)
        made = stage.attempts() - before
        stage.expect(made > stage.STUCK, f"{made} requests")
        return "counts as a mistake of the model, and the agent goes on"

    return check


def play(way, form, go, raises, **named):
    stage.play(way, form, go, raises, final=final(go), **named)


ONE = {400: RAISES[400]}
STREAM = {"stream_outputs": True}
play("smolagents-code", "code", run("CodeAgent"), RAISES, named="[smolagents](#smolagents)")
play("smolagents-code-streamed", "code", run("CodeAgent", **STREAM), ONE, cut=RAISES[400])
play("smolagents-tools", "final_answer", run("ToolCallingAgent"), ONE)
play("smolagents-tools-streamed", "final_answer", run("ToolCallingAgent", **STREAM), ONE, cut=RAISES[400])

# This agent writes each failure into one growing message of the user, and no call: one repetition more is needed to see it.
if not stage.CONTROL:
    stage.killed(
        "failing", "smolagents-tools", "final_answer", run("ToolCallingAgent"), 400, RAISES[400], stage.STUCK + 1
    )
