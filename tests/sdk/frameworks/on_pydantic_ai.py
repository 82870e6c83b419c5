"""Agents on Pydantic AI: OpenAI's chat completions and Anthropic, each streamed too."""

from pydantic_ai import Agent, ModelRetry, Tool
from pydantic_ai.exceptions import FallbackExceptionGroup
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models.fallback import FallbackModel

import stage

RAISES = {
    400: "pydantic_ai.exceptions.ModelRequestRejectedError",
    401: "pydantic_ai.exceptions.ModelAuthenticationError",
    403: "pydantic_ai.exceptions.ModelAuthenticationError",
    404: "pydantic_ai.exceptions.ModelNotFoundError",
    422: "pydantic_ai.exceptions.ModelRequestRejectedError",
}


def fetch_order(order: str) -> str:
    """Fetches an order, and has the model told when that fails."""
    try:
        return stage.fetch_order(order)
    except RuntimeError as error:
        raise ModelRetry(str(error)) from error


TOOLS = [*(tool for tool in stage.TOOLS if tool is not stage.fetch_order), Tool(fetch_order, max_retries=50)]


def made(agent, which):
    recipe = stage.recipe("Pydantic AI", agent, tools=TOOLS)
    return recipe[which], recipe["settings"]


def plain(which):
    async def go(agent):
        one, settings = made(agent, which)
        return (await one.run(stage.TASK, model_settings=settings)).output

    return lambda agent: stage.LOOP.run(go(agent))


def text_of(event):
    """The piece of text that an event of a stream brings, or None."""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
        return event.part.content
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
        return event.delta.content_delta
    return None


def streamed(which):
    async def go(agent):
        one, settings = made(agent, which)
        said = []
        async with one.iter(stage.TASK, model_settings=settings) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as stream:
                        async for event in stream:
                            said.append(text_of(event))
        stage.expect(stage.joined([text for text in said if text]) == run.result.output, said)
        return run.result.output

    return lambda agent: stage.LOOP.run(go(agent))


def fallback():
    """A second model is asked after a kill, and is stopped too, as it is behind the same Envoy."""
    one, settings = made("400.tool.stuck.pydantic-ai-fallback", "agent")
    before = stage.attempts()
    try:
        both = FallbackModel(one.model, one.model)
        stage.LOOP.run(one.run(stage.TASK, model=both, model_settings=settings))
    except FallbackExceptionGroup as group:
        stage.expect(all(stage.is_a_kill(error) for error in group.exceptions), group.exceptions)
        stage.expect(len(group.exceptions) == 2, group.exceptions)
    requests = stage.attempts() - before
    stage.expect(requests == stage.STUCK + 1, f"{requests} requests")
    print("ok pydantic-ai: FallbackModel")


stage.play("pydantic-ai-openai", "tool", plain("agent"), RAISES, named="[Pydantic AI](#pydantic-ai)")
stage.play("pydantic-ai-openai-streamed", "tool", streamed("agent"), {400: RAISES[400]}, cut="pydantic_ai.exceptions.ModelAPIError")
# It asks Anthropic for a stream, whatever the agent wants.
stage.play("pydantic-ai-anthropic", "tool", plain("other"), {400: RAISES[400]}, cut=RAISES[400])
stage.play("pydantic-ai-anthropic-streamed", "tool", streamed("other"), {400: RAISES[400]}, cut=RAISES[400])
if not stage.CONTROL:
    fallback()
