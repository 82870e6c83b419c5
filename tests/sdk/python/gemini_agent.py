"""An agent on the google-genai package."""

from google import genai
from google.genai import errors, types

import stack

MODEL = "gemini-2.5-flash"
TOOLS = types.GenerateContentConfig(
    tools=[
        types.Tool(
            function_declarations=[
                types.FunctionDeclaration(
                    name="get_weather",
                    parameters_json_schema={
                        "type": "object",
                        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
                    },
                )
            ]
        )
    ]
)


def client(agent):
    # Without these it would not try again at all.
    retries = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.02)
    options = types.HttpOptions(base_url=stack.URL, headers={"x-agent-id": agent, "x-run-id": agent}, retry_options=retries)
    return genai.Client(api_key="none", http_options=options)


class GenerateContent:
    refusal = errors.ClientError

    # The clients are kept in a variable: a client that is collected closes its connections.
    def ask(self, agent, text):
        one = client(agent)
        answer = one.models.generate_content(model=MODEL, contents=text)
        stack.expect(answer.candidates[0].finish_reason == types.FinishReason.STOP, answer)
        return answer.text

    def stream(self, agent, text):
        one = client(agent)
        chunks = list(one.models.generate_content_stream(model=MODEL, contents=text))
        stack.expect(chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP, chunks[-1])
        return [chunk.text for chunk in chunks if chunk.text]

    def tool(self, agent, text):
        one = client(agent)
        call = one.models.generate_content(model=MODEL, contents=text, config=TOOLS).function_calls[0]
        return call.name, call.args

    def stream_tool(self, agent, text):
        one = client(agent)
        chunks = list(one.models.generate_content_stream(model=MODEL, contents=text, config=TOOLS))
        call = [call for chunk in chunks for call in chunk.function_calls or []][0]
        return call.name, call.args

    def verdict(self, agent, text):
        one = client(agent)
        answer = one.models.generate_content(model=MODEL, contents=text)
        stack.expect(answer.text, "an answer beside the verdict")
        headers = {name.lower(): value for name, value in answer.sdk_http_response.headers.items()}
        return headers["x-sentinel-verdict"]


stack.run("generate-content", GenerateContent())
