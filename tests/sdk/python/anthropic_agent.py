"""An agent on the anthropic package."""

import anthropic

import stack

MODEL = "claude-sonnet-4-5"
TOOLS = [
    {
        "name": "get_weather",
        "input_schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
            "required": ["city", "unit"],
        },
    }
]


def messages(agent):
    client = anthropic.Anthropic(api_key="sk-none", base_url=stack.URL, default_headers={"x-agent-id": agent, "x-run-id": agent})
    return client.messages


def question(text):
    return {"model": MODEL, "max_tokens": 256, "messages": [{"role": "user", "content": text}]}


class Messages:
    refusal = anthropic.BadRequestError

    def ask(self, agent, text):
        answer = messages(agent).create(**question(text))
        stack.expect(answer.stop_reason == "end_turn", answer)
        return answer.content[0].text

    def stream(self, agent, text):
        with messages(agent).stream(**question(text)) as events:
            pieces = list(events.text_stream)
            stack.expect(events.get_final_message().stop_reason == "end_turn", events.get_final_message())
        return pieces

    def tool(self, agent, text):
        call = messages(agent).create(**question(text), tools=TOOLS).content[0]
        return call.name, call.input

    def stream_tool(self, agent, text):
        with messages(agent).stream(**question(text), tools=TOOLS) as events:
            call = events.get_final_message().content[0]
        return call.name, call.input

    def verdict(self, agent, text):
        raw = messages(agent).with_raw_response.create(**question(text))
        stack.expect(raw.parse().content[0].text, "an answer beside the verdict")
        return raw.headers["x-sentinel-verdict"]


stack.run("messages", Messages())
