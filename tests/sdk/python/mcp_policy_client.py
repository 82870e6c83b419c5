"""An agent on the mcp package, before the MCP server of mcp_server.py with Envoy between, which denies it the tool `fail`."""

import anyio
import os

os.environ.setdefault("SENTINEL_CALLS", "20")
os.environ.setdefault("SENTINEL_ANSWER", "result")

import mcp_client


async def denied(mode):
    async with mcp_client.connected(mode, "cleaner") as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        mcp_client.expect(tools == {"echo", "count"}, tools)
        print(f"ok {mode}: the list")
        is_error, said = await mcp_client.call(client, "fail", "at once")
        mcp_client.expect(is_error and "`fail` is no tool that this agent may use" in said, said)
        print(f"ok {mode}: a denied call")
        is_error, said = await mcp_client.call(client, "echo", "still there")
        mcp_client.expect(not is_error and said.endswith("still there"), said)
        print(f"ok {mode}: another call")


async def main():
    await denied("legacy")
    await denied("auto")


anyio.run(main)
