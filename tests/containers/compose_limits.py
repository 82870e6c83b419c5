"""compose.yaml with the profile `limits`: the second Envoy asks for a key, and Limitador counts for it in its own Redis.

Limitador's public image is in no package registry: in its place stands the program of the tests (tests/limitador), which has the
library that counts and takes the same arguments.
"""

from compose_scenes import Stack, assert_little
from podman import Podman
from waiting import ask, eventually, expect

GATEWAY = "http://127.0.0.1:10001"
SERVICES = ["limits-redis", "limitador", "gateway"]
KEY = "0123456789abcdef"
CHANGES = [("clients.yaml", "credentials: []", f"credentials: [{{client: billing, key: {KEY}}}]"), ("limitador.yaml", "max_value: 100\n", "max_value: 2\n")]


def play(podman: Podman) -> None:
    stack = Stack(podman)
    for file, old, new in CHANGES:
        stack.change(f"envoy/production/{file}", old, new)
    try:
        # The gateway's own depends_on starts the embedding service and its Redis too.
        stack.compose("up", "--detach", "--no-build", *SERVICES)
        for service in SERVICES:
            assert_little(podman, stack.container(service))
        limits(stack)
    finally:
        stack.down()


def limits(stack: Stack) -> None:
    def asked(key: str) -> tuple[int, dict[str, str], str]:
        return ask(f"{GATEWAY}/openai/v1/models", headers={"authorization": f"Bearer {key}"})

    def logs() -> str:
        return stack.logs(*SERVICES)

    eventually("the gateway refuses whoever has no key", lambda: asked("")[0] == 401, logs)
    expect("the gateway refuses whoever has no key", True)
    # No provider is reached from here; what counts is that the limit let the request on, and who counted it.
    eventually("Limitador counts", lambda: "x-ratelimit-limit" in asked(KEY)[1], logs)
    expect("Limitador counts", True)
    eventually("a client over its limit is refused", lambda: asked(KEY)[0] == 429, logs)
    _, headers, body = asked(KEY)
    told = "retry-after" in headers and headers.get("x-ratelimit-remaining") == "0" and headers.get("x-ratelimit-limit", "").startswith("2")
    expect("a client over its limit is refused, and told for how long", told, (headers, body))
