"""An agent on google-genai's Interactions; it also leaves its history with the provider."""

import json

from google import genai
from google.genai import types
from google.genai._interactions import BadRequestError

import stack

MODEL = "gemini-3-flash-preview"
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    },
}


def client(agent):
    retries = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.02)
    # Only a run that names itself is stopped for what it asks.
    headers = {"x-agent-id": agent, "x-run-id": agent}
    options = types.HttpOptions(base_url=stack.URL, headers=headers, retry_options=retries)
    return genai.Client(api_key="none", http_options=options)


def said(step):
    return "".join(content.text for content in step.content)


# What the provider keeps, or has thought about, is not given again with its calls.
ALONE = {"store": False, "generation_config": {"thinking_level": "minimal"}}


class Interactions:
    refusal = BadRequestError

    # The clients are kept in a variable: a client that is collected closes its connections.
    def ask(self, agent, text):
        one = client(agent)
        answer = one.interactions.create(model=MODEL, input=text)
        stack.expect(answer.status == "completed", answer)
        stack.expect(answer.output_text == said(answer.steps[-1]), answer)
        return answer.output_text

    def stream(self, agent, text):
        one = client(agent)
        events = list(one.interactions.create(model=MODEL, input=text, stream=True))
        stack.expect(events[0].event_type == "interaction.created", events[0])
        stack.expect(events[-1].interaction.status == "completed", events[-1])
        deltas = [event.delta for event in events if event.event_type == "step.delta"]
        return [delta.text for delta in deltas if delta.type == "text"]

    def tool(self, agent, text):
        one = client(agent)
        answer = one.interactions.create(model=MODEL, input=text, tools=[WEATHER], **ALONE)
        stack.expect(answer.status == "requires_action", answer)
        call = answer.steps[-1]
        return call.name, dict(call.arguments)

    def stream_tool(self, agent, text):
        one = client(agent)
        events = list(one.interactions.create(model=MODEL, input=text, tools=[WEATHER], stream=True, **ALONE))
        steps = [event.step for event in events if event.event_type == "step.start"]
        call = [step for step in steps if step.type == "function_call"][0]
        deltas = [event.delta for event in events if event.event_type == "step.delta"]
        pieces = [delta.arguments for delta in deltas if delta.type == "arguments_delta"]
        return call.name, json.loads("".join(pieces))

    def verdict(self, agent, text):
        one = client(agent)
        raw = one.interactions.with_raw_response.create(model=MODEL, input=text)
        stack.expect(raw.parse().output_text, "an answer beside the verdict")
        return raw.headers["x-sentinel-verdict"]


def kept_by_the_provider():
    """A call that fails the same way again and again: each request has the last result alone."""
    one = client("keeps-nothing")
    step, previous, verdicts = "What is the weather in Hamburg?", None, []
    try:
        for _ in range(7):
            raw = one.interactions.with_raw_response.create(
                model=MODEL, input=step, tools=[WEATHER], **({"previous_interaction_id": previous} if previous else {})
            )
            verdicts.append(raw.headers["x-sentinel-verdict"])
            answer = raw.parse()
            previous, call = answer.id, answer.steps[-1]
            step = [
                {
                    "type": "function_result",
                    "call_id": call.id,
                    "name": call.name,
                    "result": "error: the weather service is not there",
                }
            ]
    except BadRequestError as error:
        stack.expect(stack.STOPPED in str(error), error)
        verdicts.append("kill")
    stack.expect(verdicts == ["allow", "allow", "allow", "hint", "hint", "kill"], verdicts)
    stack.done("interactions", "kept by the provider")


stack.run("interactions", Interactions())
if not stack.IS_CACHED:
    kept_by_the_provider()
