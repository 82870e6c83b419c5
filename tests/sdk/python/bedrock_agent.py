"""An agent on boto3: Converse and ConverseStream."""

import json

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

import stack

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
TOOLS = {
    "tools": [
        {
            "toolSpec": {
                "name": "get_weather",
                "inputSchema": {
                    "json": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
                        "required": ["city", "unit"],
                    }
                },
            }
        }
    ]
}


class ValidationError(Exception):
    """What boto3 raises, once its code is known to be this one."""


def client(agent):
    """Signs with an account of its own, and reaches the stack. Retries are boto3's default, which are `legacy`."""
    session = boto3.session.Session(
        aws_access_key_id="AKIDOFTHEAGENT", aws_secret_access_key="none", region_name="us-east-1"
    )
    runtime = session.client("bedrock-runtime", endpoint_url=stack.URL, config=Config(proxies={}))
    runtime.meta.events.register(
        "before-call.bedrock-runtime.*",
        lambda params, **_: params["headers"].update({"x-agent-id": agent, "x-run-id": agent, "x-client": "a"}),
    )
    return runtime


def messages(text):
    return {"modelId": MODEL, "messages": [{"role": "user", "content": [{"text": text}]}]}


def call(method, agent, text, **more):
    try:
        return getattr(client(agent), method)(**messages(text), **more)
    except ClientError as error:
        expected = error.response["Error"]["Code"] == "ValidationException"
        stack.expect(expected and type(error).__name__ == "ValidationException", repr(error))
        stack.expect(error.response["ResponseMetadata"]["RetryAttempts"] == 0, error.response)
        refused = ValidationError(str(error))
        refused.status_code = error.response["ResponseMetadata"]["HTTPStatusCode"]
        raise refused from error


def verdict_of(answer):
    return answer["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-verdict"]


class Converse:
    refusal = ValidationError

    def ask(self, agent, text):
        answer = call("converse", agent, text)
        stack.expect(answer["stopReason"] == "end_turn", answer)
        return answer["output"]["message"]["content"][0]["text"]

    def stream(self, agent, text):
        # Every frame's checksums are verified by botocore.
        events = list(call("converse_stream", agent, text)["stream"])
        kinds = [kind for event in events for kind in event]
        stack.expect(kinds[0] == "messageStart" and kinds[-2:] == ["messageStop", "metadata"], kinds)
        deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
        return [delta["text"] for delta in deltas]

    def tool(self, agent, text):
        answer = call("converse", agent, text, toolConfig=TOOLS)
        stack.expect(answer["stopReason"] == "tool_use", answer)
        used = answer["output"]["message"]["content"][0]["toolUse"]
        return used["name"], used["input"]

    def stream_tool(self, agent, text):
        events = list(call("converse_stream", agent, text, toolConfig=TOOLS)["stream"])
        start = [event["contentBlockStart"]["start"] for event in events if "contentBlockStart" in event][0]
        deltas = [event["contentBlockDelta"]["delta"] for event in events if "contentBlockDelta" in event]
        return start["toolUse"]["name"], json.loads("".join(delta["toolUse"]["input"] for delta in deltas))

    def verdict(self, agent, text):
        answer = call("converse", agent, text)
        stack.expect(answer["output"]["message"]["content"], answer)
        return verdict_of(answer)


stack.run("converse", Converse())
