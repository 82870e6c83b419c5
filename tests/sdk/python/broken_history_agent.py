"""Agents on the providers' packages whose histories were cut by a compaction: a call without its result, a result without
its call. Without repair the provider refuses them, with repair it answers."""

import anthropic
import boto3
import botocore.exceptions
import openai
from botocore.config import Config
from google import genai
from google.genai import errors, types

import stack

QUESTION = "What is the weather in Hamburg?"
GO_ON = "Go on with what you have, please."


def chat(agent):
    client = openai.OpenAI(api_key="sk-none", base_url=stack.URL + "/v1", default_headers={"x-agent-id": agent})
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    messages = [
        {"role": "tool", "tool_call_id": "call_0", "content": "its call was cut off"},
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": GO_ON},
    ]
    return client.chat.completions.create(model="gpt-4o-mini", messages=messages).choices[0].message.content


def responses(agent):
    client = openai.OpenAI(api_key="sk-none", base_url=stack.URL + "/v1", default_headers={"x-agent-id": agent})
    items = [
        {"type": "function_call_output", "call_id": "call_0", "output": "its call was cut off"},
        {"role": "user", "content": QUESTION},
        {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": "{}"},
        {"role": "user", "content": GO_ON},
    ]
    return client.responses.create(model="gpt-4o-mini", input=items).output_text


def history(blocks):
    call, result, text = blocks
    return [
        {"role": "user", "content": [result("call_0", "its call was cut off"), text(QUESTION)]},
        {"role": "assistant", "content": [call("call_1"), call("call_2")]},
        {"role": "user", "content": [result("call_2", "14 degrees")]},
        {"role": "assistant", "content": [text("It is 14 degrees.")]},
        {"role": "user", "content": [text(GO_ON)]},
    ]


def messages(agent):
    client = anthropic.Anthropic(api_key="none", base_url=stack.URL, default_headers={"x-agent-id": agent})
    blocks = (
        lambda call: {"type": "tool_use", "id": call, "name": "get_weather", "input": {}},
        lambda call, told: {"type": "tool_result", "tool_use_id": call, "content": told},
        lambda text: {"type": "text", "text": text},
    )
    answer = client.messages.create(model="claude-sonnet-4-5", max_tokens=64, messages=history(blocks))
    return answer.content[0].text


def converse(agent):
    session = boto3.session.Session(aws_access_key_id="AKID", aws_secret_access_key="none", region_name="us-east-1")
    runtime = session.client("bedrock-runtime", endpoint_url=stack.URL, config=Config(proxies={}))
    runtime.meta.events.register(
        "before-sign.bedrock-runtime.Converse", lambda request, **_: request.headers.add_header("x-agent-id", agent)
    )
    blocks = (
        lambda call: {"toolUse": {"toolUseId": call, "name": "get_weather", "input": {}}},
        lambda call, told: {"toolResult": {"toolUseId": call, "content": [{"text": told}]}},
        lambda text: {"text": text},
    )
    answer = runtime.converse(modelId="anthropic.claude-sonnet-4-5-20250929-v1:0", messages=history(blocks))
    return answer["output"]["message"]["content"][0]["text"]


def gemini(agent):
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=stack.URL, headers={"x-agent-id": agent}))
    part = types.Part
    told = part.from_function_response(name="get_weather", response={"output": "its call was cut off"})
    contents = [
        types.Content(role="user", parts=[told, part.from_text(text=QUESTION)]),
        types.Content(role="model", parts=[part.from_function_call(name="get_weather", args={})]),
        types.Content(role="user", parts=[part.from_text(text=GO_ON)]),
    ]
    return client.models.generate_content(model="gemini-2.5-flash", contents=contents).text


for name, ask, refusal in [
    ("chat", chat, openai.BadRequestError),
    ("responses", responses, openai.BadRequestError),
    ("messages", messages, anthropic.BadRequestError),
    ("converse", converse, botocore.exceptions.ClientError),
    ("gemini", gemini, errors.ClientError),
]:
    try:
        answer = ask("plain-" + name)
    except refusal as error:
        code = getattr(error, "status_code", None) or getattr(error, "code", None) or error.response["ResponseMetadata"]["HTTPStatusCode"]
        stack.expect(code == 400, error)
    else:
        raise AssertionError(f"{name}: {answer}")
    stack.done(name, "refused without repair")
    answer = ask("mended-" + name)
    stack.expect(len(answer.split()) == stack.WORDS, answer)
    stack.done(name, "answered with repair")
