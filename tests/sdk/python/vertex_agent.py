"""Agents on Vertex AI: the anthropic package's client for it, and google-genai with `vertexai=True`."""

import anthropic
from google import genai
from google.genai import errors, types
from google.oauth2.credentials import Credentials

import stack

PROJECT, LOCATION = "acme", "global"
# One that never runs out, so that nobody is asked for another.
TOKEN = "ya29.of-the-agent"


class Claude:
    refusal = anthropic.BadRequestError

    def messages(self, agent):
        return anthropic.AnthropicVertex(
            region=LOCATION,
            project_id=PROJECT,
            access_token=TOKEN,
            base_url=stack.URL + "/v1",
            default_headers={"x-agent-id": agent, "x-run-id": agent},
        ).messages

    def question(self, text):
        messages = [{"role": "user", "content": text}]
        return {"model": "claude-sonnet-4-5@20250929", "max_tokens": 256, "messages": messages}

    def ask(self, agent, text):
        answer = self.messages(agent).create(**self.question(text))
        stack.expect(answer.stop_reason == "end_turn", answer)
        return answer.content[0].text

    def stream(self, agent, text):
        with self.messages(agent).stream(**self.question(text)) as events:
            pieces = list(events.text_stream)
            stack.expect(events.get_final_message().stop_reason == "end_turn", events.get_final_message())
        return pieces

    def verdict(self, agent, text):
        raw = self.messages(agent).with_raw_response.create(**self.question(text))
        stack.expect(raw.parse().content[0].text, "an answer beside the verdict")
        return raw.headers["x-sentinel-verdict"]


class Gemini:
    refusal = errors.ClientError
    model = "gemini-2.5-flash"

    def client(self, agent):
        retries = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.02)
        options = types.HttpOptions(base_url=stack.URL, headers={"x-agent-id": agent, "x-run-id": agent}, retry_options=retries)
        return genai.Client(
            vertexai=True,
            project=PROJECT,
            location=LOCATION,
            credentials=Credentials(TOKEN),
            http_options=options,
        )

    # The clients are kept in a variable: a client that is collected closes its connections.
    def ask(self, agent, text):
        one = self.client(agent)
        answer = one.models.generate_content(model=self.model, contents=text)
        stack.expect(answer.candidates[0].finish_reason == types.FinishReason.STOP, answer)
        return answer.text

    def stream(self, agent, text):
        one = self.client(agent)
        chunks = list(one.models.generate_content_stream(model=self.model, contents=text))
        stack.expect(chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP, chunks[-1])
        return [chunk.text for chunk in chunks if chunk.text]

    def verdict(self, agent, text):
        one = self.client(agent)
        answer = one.models.generate_content(model=self.model, contents=text)
        stack.expect(answer.text, "an answer beside the verdict")
        headers = {name.lower(): value for name, value in answer.sdk_http_response.headers.items()}
        return headers["x-sentinel-verdict"]


for name, api in (("vertex-claude", Claude()), ("vertex-gemini", Gemini())):
    stack.run_small(name, api)
