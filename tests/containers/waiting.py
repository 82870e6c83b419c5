"""Asking over HTTP, and waiting for what must come."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable

from podman import Failed

PATIENCE_SECONDS = 120


def ask(url: str, body: dict | None = None, headers: dict[str, str] | None = None) -> tuple[int, dict[str, str], str]:
    """Status, headers (names in lower case) and body; status 0 where nobody answers."""
    request = urllib.request.Request(url, headers={"content-type": "application/json"} | (headers or {}),
                                     data=None if body is None else json.dumps(body).encode())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, {name.lower(): value for name, value in error.headers.items()}, error.read().decode()
    except OSError:
        return 0, {}, ""


def eventually(what: str, ready: Callable[[], bool], on_failure: Callable[[], str] = lambda: "", pause: float = 0.2) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not ready():
        if time.monotonic() > deadline:
            raise Failed(f"not within {PATIENCE_SECONDS} s: {what}\n{on_failure()}")
        time.sleep(pause)


def expect(what: str, met: bool, seen: object = "") -> None:
    if not met:
        raise Failed(f"{what}: it is not so. Seen: {seen}")
    print(f"  ok    {what}", flush=True)


def counted(text: str, name: str, **labels: str) -> float:
    """The sum of a counter's series in Prometheus' text form."""
    wanted = [f'{label}="{value}"' for label, value in labels.items()]
    lines = [line for line in text.splitlines() if line.startswith((f"{name}{{", f"{name} "))]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if all(label in line for label in wanted))
