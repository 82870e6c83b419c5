"""Agents on the providers' packages whose gateway denies them the tool `wipe_disk`."""

import anthropic
import openai
from google import genai
from google.genai import errors, types

import stack

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
NAMES = ["wipe_disk", "get_weather"]
QUESTION = "What is the weather in Hamburg?"


def chat(forced):
    client = openai.OpenAI(api_key="sk-none", base_url=stack.URL + "/v1", default_headers={"x-agent-id": "chat"})
    tools = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES]
    choice = {"type": "function", "function": {"name": "wipe_disk"}} if forced else "auto"
    answer = client.chat.completions.create(
        model="gpt-4o-mini", messages=[{"role": "user", "content": QUESTION}], tools=tools, tool_choice=choice
    )
    return answer.choices[0].message.tool_calls[0].function.name


def responses(forced):
    client = openai.OpenAI(api_key="sk-none", base_url=stack.URL + "/v1", default_headers={"x-agent-id": "responses"})
    tools = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in NAMES]
    choice = {"type": "function", "name": "wipe_disk"} if forced else "auto"
    answer = client.responses.create(model="gpt-4o-mini", input=QUESTION, tools=tools, tool_choice=choice)
    return answer.output[0].name


def messages(forced):
    client = anthropic.Anthropic(api_key="none", base_url=stack.URL, default_headers={"x-agent-id": "messages"})
    tools = [{"name": name, "input_schema": SCHEMA} for name in NAMES]
    choice = {"type": "tool", "name": "wipe_disk"} if forced else {"type": "auto"}
    answer = client.messages.create(
        model="claude-sonnet-4-5", max_tokens=64, messages=[{"role": "user", "content": QUESTION}], tools=tools, tool_choice=choice
    )
    return answer.content[0].name


def gemini(forced):
    options = types.HttpOptions(base_url=stack.URL, headers={"x-agent-id": "gemini"})
    client = genai.Client(api_key="none", http_options=options)
    functions = [types.FunctionDeclaration(name=name, parameters_json_schema=SCHEMA) for name in NAMES]
    calling = types.FunctionCallingConfig(mode="ANY", allowed_function_names=["wipe_disk"]) if forced else None
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=functions)],
        tool_config=types.ToolConfig(function_calling_config=calling) if calling else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    answer = client.models.generate_content(model="gemini-2.5-flash", contents=QUESTION, config=config)
    return answer.function_calls[0].name


for name, ask, refusal in [
    ("chat", chat, openai.BadRequestError),
    ("responses", responses, openai.BadRequestError),
    ("messages", messages, anthropic.BadRequestError),
    ("gemini", gemini, errors.ClientError),
]:
    stack.expect(ask(False) == "get_weather", name)
    stack.done(name, "a denied tool beside others")
    before = stack.attempts()
    try:
        answer = ask(True)
    except refusal as error:
        stack.expect("`wipe_disk`" in str(error), error)
    else:
        raise AssertionError(f"{name}: {answer}")
    stack.expect(stack.attempts() - before == 1, "a refusal is not tried again")
    stack.done(name, "a denied tool that is forced")
