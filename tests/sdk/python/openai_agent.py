"""An agent on the openai package: chat completions and responses."""

import json

import openai

import stack

MODEL = "gpt-4o-mini"
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}


def client(agent):
    return openai.OpenAI(api_key="sk-none", base_url=stack.URL + "/v1", default_headers={"x-agent-id": agent, "x-run-id": agent})


class Chat:
    refusal = openai.BadRequestError
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": PARAMETERS, "strict": True}}]

    def ask(self, agent, text):
        answer = client(agent).chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}])
        stack.expect(answer.choices[0].finish_reason == "stop", answer)
        return answer.choices[0].message.content

    def stream(self, agent, text):
        chunks = client(agent).chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": text}], stream=True
        )
        choices = [choice for chunk in chunks for choice in chunk.choices]
        stack.expect(choices[-1].finish_reason == "stop", choices)
        return [choice.delta.content for choice in choices if choice.delta.content]

    def tool(self, agent, text):
        answer = client(agent).chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": text}], tools=self.tools
        )
        call = answer.choices[0].message.tool_calls[0].function
        return call.name, json.loads(call.arguments)

    def stream_tool(self, agent, text):
        with client(agent).chat.completions.stream(
            model=MODEL, messages=[{"role": "user", "content": text}], tools=self.tools
        ) as events:
            for _ in events:
                pass
            call = events.get_final_completion().choices[0].message.tool_calls[0].function
        return call.name, json.loads(call.arguments)

    def verdict(self, agent, text):
        raw = client(agent).chat.completions.with_raw_response.create(
            model=MODEL, messages=[{"role": "user", "content": text}]
        )
        stack.expect(raw.parse().choices[0].message.content, "an answer beside the verdict")
        return raw.headers["x-sentinel-verdict"]


class Responses:
    refusal = openai.BadRequestError
    tools = [{"type": "function", "name": "get_weather", "parameters": PARAMETERS, "strict": True}]

    def ask(self, agent, text):
        answer = client(agent).responses.create(model=MODEL, input=text)
        stack.expect(answer.status == "completed", answer)
        return answer.output_text

    def stream(self, agent, text):
        events = list(client(agent).responses.create(model=MODEL, input=text, stream=True))
        stack.expect(events[-1].type == "response.completed", events[-1])
        pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
        stack.expect(events[-1].response.output_text == "".join(pieces), events[-1])
        return pieces

    def tool(self, agent, text):
        # What the provider keeps is not given again with its calls.
        call = client(agent).responses.create(model=MODEL, input=text, tools=self.tools, store=False).output[0]
        return call.name, json.loads(call.arguments)

    def stream_tool(self, agent, text):
        with client(agent).responses.stream(model=MODEL, input=text, tools=self.tools, store=False) as events:
            for _ in events:
                pass
            call = events.get_final_response().output[0]
        return call.name, json.loads(call.arguments)

    def verdict(self, agent, text):
        raw = client(agent).responses.with_raw_response.create(model=MODEL, input=text)
        stack.expect(raw.parse().output_text, "an answer beside the verdict")
        return raw.headers["x-sentinel-verdict"]


stack.run("chat", Chat())
stack.run("responses", Responses())
