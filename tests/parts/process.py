"""How a program is run to its end, and what is said where it fails. Nothing here knows a part."""

import subprocess
import time
from pathlib import Path


class PartError(Exception):
    """A part could not be set up; the text says which, why, and what to do."""


HEARTBEAT_SECONDS = 10
LAST_LINES = 15


def run(command: list[str], doing: str, environment: dict[str, str] | None = None, *, cwd: Path | None = None,
        show: bool = False) -> None:
    """Runs `command` to its end; with `show` its output is seen as it comes, else only if it fails."""
    start = time.monotonic()
    sink = None if show else subprocess.PIPE
    try:
        process = subprocess.Popen(command, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=sink,
                                   stderr=None if show else subprocess.STDOUT)
    except OSError as error:
        raise PartError(f"{doing}: {command[0]} cannot be started: {error}") from None
    with process:
        try:
            while True:
                try:
                    output, _ = process.communicate(timeout=HEARTBEAT_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    if not show:
                        print(f"      ... {doing}, {time.monotonic() - start:.0f} s", flush=True)
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        words = "" if show else "\n" + "\n".join(output.decode(errors="replace").splitlines()[-LAST_LINES:])
        raise PartError(f"{doing} failed (exit code {process.returncode}){words}")
