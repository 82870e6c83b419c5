"""An agent on the mcp package, before the MCP server of mcp_server.py with Envoy between.

SENTINEL_URL is where Envoy is, SENTINEL_CALLS how often a call may be repeated, SENTINEL_ANSWER what a call too many is
answered with (`result` or `error`).
"""

import os
from contextlib import asynccontextmanager

import anyio
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

URL = os.environ["SENTINEL_URL"] + "/mcp"
CALLS = int(os.environ["SENTINEL_CALLS"])
ANSWER = os.environ["SENTINEL_ANSWER"]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


@asynccontextmanager
async def connected(mode, agent=None):
    """A client; `mode` as the package calls it: `legacy` has sessions, `auto` finds the newest that both sides speak."""
    headers = {"x-agent-id": agent} if agent else {}
    async with create_mcp_http_client(headers=headers) as http:
        async with Client(streamable_http_client(URL, http_client=http), mode=mode) as client:
            yield client


async def executed(client):
    # To be asked rarely: these calls are equal too.
    return int((await client.call_tool("count", {})).content[0].text)


async def call(client, tool, text):
    """(whether it is an error, what it says)."""
    result = await client.call_tool(tool, {"text": text})
    return result.is_error, result.content[0].text


async def stopped(client, tool, text):
    """The call is answered by the breaker, in words that help."""
    if ANSWER == "error":
        try:
            answer = await call(client, tool, text)
        except MCPError as error:
            expect(error.code == -32000, error)
            said = error.message
        else:
            raise AssertionError(f"the server answered: {answer}")
    else:
        is_error, said = await call(client, tool, text)
        expect(is_error, said)
    expect(f"`{tool}`" in said and f"{CALLS + 1} times" in said, said)


async def repeats(name, mode, agent):
    """A loop over one call: the allowed ones are executed, the next one is not, and everything else goes on."""
    async with connected(mode, agent) as client:
        before = await executed(client)
        for turn in range(CALLS):
            is_error, said = await call(client, "echo", "again")
            expect(not is_error and said == f"{before + turn + 1}: again", said)
        await stopped(client, "echo", "again")
        expect(await executed(client) == before + CALLS, "the call too many reached the server")
        print(f"ok {name}: a repeated call")

        is_error, said = await call(client, "echo", "something else")
        expect(not is_error and said.endswith("something else"), said)
        tools = {tool.name for tool in (await client.list_tools()).tools}
        expect(tools == {"echo", "fail", "count"}, tools)
        print(f"ok {name}: other calls")

        before = await executed(client)
        for turn in range(CALLS):
            is_error, said = await call(client, "fail", "again")
            expect(is_error and f"{before + turn + 1}: no such thing" in said, said)
        await stopped(client, "fail", "again")
        expect(await executed(client) == before + CALLS, "the call too many reached the server")
        print(f"ok {name}: a call that keeps failing")

    async with connected(mode, agent and agent + "-colleague") as client:
        is_error, said = await call(client, "echo", "again")
        expect(not is_error and said.endswith(": again"), said)
        print(f"ok {name}: somebody else")


async def crowd():
    """Many equal calls at once: no more than allowed are executed, and every caller is answered."""
    async with connected("legacy") as client:
        before = await executed(client)
        answers = []

        async def one():
            try:
                answers.append((await call(client, "echo", "at once"))[0])
            except MCPError:
                answers.append(True)

        async with anyio.create_task_group() as group:
            for _ in range(2 * CALLS):
                group.start_soon(one)
        expect((answers.count(False), answers.count(True)) == (CALLS, CALLS), answers)
        expect(await executed(client) == before + CALLS, "more were executed than answered")
        print("ok crowd: many at once")


async def nobody():
    """Without session and name, calls of different people would be counted together: nothing is stopped."""
    async with connected("auto") as client:
        before = await executed(client)
        for _ in range(CALLS + 5):
            is_error, said = await call(client, "echo", "again")
            expect(not is_error, said)
        expect(await executed(client) == before + CALLS + 5, "a call did not reach the server")
        print("ok nobody: no identity, no breaker")


async def main():
    await repeats("session", "legacy", None)
    await repeats("session and agent", "legacy", "named")
    await repeats("newest protocol", "auto", "modern")
    await crowd()
    await nobody()


if __name__ == "__main__":
    anyio.run(main)
