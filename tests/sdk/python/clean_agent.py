"""Agents on the providers' packages whose gateway cleans the answers, whole and streamed. The model thinks in tags."""

import anthropic
import openai
from google import genai
from google.genai import types

import stack

LEFT = "It is seven, as `<think>` says. 5 < 6"


def chat(streams):
    client = openai.OpenAI(api_key="sk-none", base_url=stack.URL + "/v1", default_headers={"x-agent-id": "chat"})
    messages = [{"role": "user", "content": f"What is it, {streams}?"}]
    if not streams:
        answer = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
        return answer.choices[0].message.content
    with client.chat.completions.stream(model="gpt-4o-mini", messages=messages) as events:
        return events.get_final_completion().choices[0].message.content


def responses(streams):
    client = openai.OpenAI(api_key="sk-none", base_url=stack.URL + "/v1", default_headers={"x-agent-id": "responses"})
    if not streams:
        return client.responses.create(model="gpt-4o-mini", input="What is it?").output_text
    with client.responses.stream(model="gpt-4o-mini", input="What is it now?") as events:
        said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        stack.expect(said == LEFT, said)
        return events.get_final_response().output_text


def messages(streams):
    client = anthropic.Anthropic(api_key="none", base_url=stack.URL, default_headers={"x-agent-id": "messages"})
    asked = {"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": [{"role": "user", "content": f"What is it, {streams}?"}]}
    if not streams:
        return client.messages.create(**asked).content[0].text
    with client.messages.stream(**asked) as events:
        said = "".join(events.text_stream)
        stack.expect(said == LEFT, said)
        return events.get_final_message().content[0].text


def gemini(streams):
    options = types.HttpOptions(base_url=stack.URL, headers={"x-agent-id": "gemini"})
    # Kept in a variable: a client that is collected closes its connections.
    client = genai.Client(api_key="none", http_options=options)
    conversation = client.chats.create(model="gemini-2.5-flash")
    if streams:
        said = "".join(chunk.text or "" for chunk in conversation.send_message_stream("What is it now?"))
    else:
        said = conversation.send_message("What is it?").text
    # The package keeps a turn only where no part of it is empty.
    kept = conversation.get_history(curated=True)
    stack.expect(len(kept) >= 2 and kept[0].role == "user", kept)
    stack.expect("".join(part.text for turn in kept[1:] for part in turn.parts) == LEFT, kept)
    return said


for name, ask in [("chat", chat), ("responses", responses), ("messages", messages), ("gemini", gemini)]:
    for streams in (False, True):
        said = ask(streams)
        stack.expect(said == LEFT, (name, streams, said))
        stack.done(name, "a clean stream" if streams else "a clean answer")
