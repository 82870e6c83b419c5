"""An MCP server on a free port of this machine, streamable HTTP at /mcp. It prints its port when it listens.

With `--json` it answers with JSON where the protocol leaves it the choice, otherwise with server-sent events.
"""

import socket
import sys

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("test", log_level="WARNING")
executed = 0


@server.tool()
def echo(text: str) -> str:
    """Says the text, after the number of calls that this server has executed."""
    global executed
    executed += 1
    return f"{executed}: {text}"


@server.tool()
def fail(text: str) -> str:
    """Always fails."""
    global executed
    executed += 1
    raise ToolError(f"{executed}: no such thing")


@server.tool()
def count() -> int:
    """The number of calls of the other tools that were executed."""
    return executed


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
app = server.streamable_http_app(json_response="--json" in sys.argv)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
