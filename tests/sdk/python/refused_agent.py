"""Agents that a gateway refuses: each package raises its own error, with the gateway's sentence in it.

The client of SENTINEL_KEY may ask once per package, and no more.
"""

import os

import anthropic
import openai
from google import genai
from google.genai import errors, types

URL = os.environ["SENTINEL_URL"]
KEY = os.environ["SENTINEL_KEY"]


def ask_openai(key):
    client = openai.OpenAI(api_key=key, base_url=URL + "/openai/v1", max_retries=0)
    answer = client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": "How are you?"}])
    return answer.choices[0].message.content


def ask_anthropic(key):
    client = anthropic.Anthropic(api_key=key, base_url=URL + "/anthropic", max_retries=0)
    answer = client.messages.create(
        model="claude-sonnet-4-5", max_tokens=64, messages=[{"role": "user", "content": "How are you?"}]
    )
    return answer.content[0].text


def ask_gemini(key):
    client = genai.Client(api_key=key, http_options=types.HttpOptions(base_url=URL + "/gemini"))
    return client.models.generate_content(model="gemini-2.5-flash", contents="How are you?").text


def refusal(ask, key, kind, status, word):
    try:
        ask(key)
    except kind as error:
        assert (getattr(error, "status_code", None) or error.code) == status, repr(error)
        assert word in str(error), repr(error)
        return error
    raise AssertionError(f"{ask.__name__} was not refused")


PACKAGES = [
    (ask_openai, openai.AuthenticationError, openai.RateLimitError),
    (ask_anthropic, anthropic.AuthenticationError, anthropic.RateLimitError),
    (ask_gemini, errors.ClientError, errors.ClientError),
]

for ask, stranger, _ in PACKAGES:
    refusal(ask, "never-given-out", stranger, 401, "No valid API key")
    print(f"ok {ask.__name__}: no key")
    assert ask(KEY), "no answer"
    print(f"ok {ask.__name__}: answered")

for ask, _, often in PACKAGES:
    error = refusal(ask, KEY, often, 429, "too many requests")
    if error.__class__ is openai.RateLimitError:
        assert error.code == "rate_limit_exceeded" and int(error.response.headers["retry-after"]) > 0, repr(error)
    if isinstance(error, errors.ClientError):
        assert error.status == "RESOURCE_EXHAUSTED", repr(error)
    print(f"ok {ask.__name__}: too often")
