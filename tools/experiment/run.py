"""Does it help? Ten tasks, each with a tool that never works, by a model of your choice: with the gateway and without it.

`make experiment PROVIDER=https://api.openai.com MODEL=gpt-4o-mini` starts the gateway and calls this. By hand, with a gateway that runs:

    python3 tools/experiment/run.py --gateway http://127.0.0.1:10000 --direct https://api.openai.com --model gpt-4o-mini

The key of the provider is read from OPENAI_API_KEY. The agent is a plain loop: it asks the model, does the calls, and asks again, until
the model answers in words, the gateway stops it, or --turns are over. Any provider that speaks OpenAI's chat completions will do. Needs
nothing but Python.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

TASKS = Path(__file__).resolve().parent / "tasks.json"
SYSTEM = "You are an agent. Use your tools to do what the user asks. When it is done, answer the user."
# Of `make up`.
GATEWAY = "http://127.0.0.1:10000"
TRIES = 4


class Stopped(Exception):
    """The gateway has ended the run."""


def tool_of(task: dict) -> dict:
    tool = task["tool"]
    properties = {name: {"type": kind} for name, kind in tool["parameters"].items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": tool["name"], "description": tool["description"], "parameters": schema}}


def ask(base: str, headers: dict[str, str], body: dict) -> tuple[dict, str]:
    """The answer, and the gateway's verdict. A busy provider is asked again."""
    data = json.dumps(body).encode()
    for attempt in range(TRIES):
        request = urllib.request.Request(f"{base}/v1/chat/completions", data,
                                         {"content-type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=600) as answer:
                return json.load(answer), answer.headers.get("x-sentinel-verdict", "")
        except urllib.error.HTTPError as error:
            if error.headers.get("x-sentinel-verdict") == "kill":
                raise Stopped from None
            said = error.read().decode(errors="replace")[:500]
            if error.code not in (429, 500, 502, 503, 529) or attempt == TRIES - 1:
                sys.exit(f"{base} answers {error.code}: {said}")
        except OSError as error:
            if attempt == TRIES - 1:
                sys.exit(f"{base} cannot be reached: {error}")
        time.sleep(2 ** attempt)
    raise AssertionError("it returns or exits before")


def play(task: dict, base: str, model: str, turns: int, names: dict[str, str]) -> dict:
    """One run of one task: how it ended, and what it took."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task["ask"]}]
    key = os.environ.get("OPENAI_API_KEY", "")
    headers = {**names, **({"authorization": f"Bearer {key}"} if key else {})}
    run = {"task": task["name"], "ended": "cut", "turns": 0, "calls": 0, "hints": 0, "input_tokens": 0, "output_tokens": 0}
    while run["turns"] < turns:
        body = {"model": model, "messages": messages, "tools": [tool_of(task)]}
        try:
            answer, verdict = ask(base, headers, body)
        except Stopped:
            run["ended"] = "killed"
            break
        run["turns"] += 1
        run["hints"] += verdict == "hint"
        usage = answer.get("usage") or {}
        run["input_tokens"] += usage.get("prompt_tokens", 0)
        run["output_tokens"] += usage.get("completion_tokens", 0)
        message = answer["choices"][0]["message"]
        messages.append({name: message[name] for name in ("role", "content", "tool_calls") if message.get(name) is not None or name == "content"})
        if not message.get("tool_calls"):
            run["ended"] = "itself"
            break
        run["calls"] += len(message["tool_calls"])
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": task["fails"]} for call in message["tool_calls"]]
    return run


def summary(runs: list[dict]) -> dict:
    def mean(name: str) -> float:
        return round(sum(run[name] for run in runs) / len(runs), 1)

    hinted = [run for run in runs if run["hints"]]
    return {
        "runs": len(runs),
        "ended_by_itself": sum(run["ended"] == "itself" for run in runs),
        "hinted": len(hinted),
        "ended_by_itself_after_a_hint": sum(run["ended"] == "itself" for run in hinted),
        "killed": sum(run["ended"] == "killed" for run in runs),
        "cut_at_the_last_turn": sum(run["ended"] == "cut" for run in runs),
        "calls_per_run": mean("calls"),
        "input_tokens_per_run": mean("input_tokens"),
        "output_tokens_per_run": mean("output_tokens"),
    }


def table(both: dict[str, dict]) -> str:
    names = list(next(iter(both.values())))
    widest = max(map(len, names))
    lines = [" " * widest + "".join(f"{arm:>12}" for arm in both)]
    lines += [f"{name.replace('_', ' '):<{widest}}" + "".join(f"{figures[name]:>12}" for figures in both.values()) for name in names]
    return "\n".join(lines)


def started(program: str, provider: str) -> subprocess.Popen:
    """`make up` before this provider, ready for agents."""
    try:
        process = subprocess.Popen([program], env=dict(os.environ, PROVIDER=provider), stdout=subprocess.DEVNULL)
    except OSError as error:
        sys.exit(f"{program} cannot be started: {error.strerror}; `make experiment` builds it")
    where = urlsplit(GATEWAY)
    for _ in range(600):
        if process.poll() is not None:
            sys.exit("the gateway did not start: see above")
        try:
            socket.create_connection((where.hostname, where.port), timeout=1).close()
            return process
        except OSError:
            time.sleep(0.1)
    process.terminate()
    sys.exit("the gateway did not open its port within a minute")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--direct", required=True, help="the provider, without /v1")
    parser.add_argument("--gateway", default=GATEWAY, help=f"the gateway before it (default: {GATEWAY})")
    parser.add_argument("--up", help="a program that starts the gateway, and is ended afterwards")
    parser.add_argument("--model", required=True)
    parser.add_argument("--runs", type=int, default=3, help="how often each task is played on each way (default: 3)")
    parser.add_argument("--turns", type=int, default=25, help="turns after which a run is cut (default: 25)")
    parser.add_argument("--out", type=Path, help="a folder for report.json")
    options = parser.parse_args()
    if options.runs < 1 or options.turns < 1:
        sys.exit("--runs and --turns must be 1 or more")
    tasks = json.loads(TASKS.read_text())
    # `with Popen` would wait for it after an error too.
    process = started(options.up, options.direct) if options.up else None
    runs: dict[str, list[dict]] = {"without": [], "with": []}
    try:
        for turn in range(options.runs):
            for task in tasks:
                # In turns, so that a provider that changes meanwhile changes both.
                names = {"x-agent-id": "experiment", "x-run-id": f"{task['name']}-{turn}-{time.time_ns()}"}
                runs["without"].append(play(task, options.direct.rstrip("/"), options.model, options.turns, {}))
                runs["with"].append(play(task, options.gateway.rstrip("/"), options.model, options.turns, names))
                print(f"  {task['name']}: without {runs['without'][-1]['ended']} after {runs['without'][-1]['turns']} turns, "
                      f"with {runs['with'][-1]['ended']} after {runs['with'][-1]['turns']}", file=sys.stderr, flush=True)
    finally:
        if process is not None:
            process.send_signal(signal.SIGTERM)
            process.wait()
    both = {arm: summary(of_arm) for arm, of_arm in runs.items()}
    print(table(both))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        report = {"model": options.model, "turns": options.turns, "summary": both, "runs": runs}
        (options.out / "report.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
