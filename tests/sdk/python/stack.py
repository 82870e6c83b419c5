"""What every agent here needs: where the stack is, how many requests Envoy has seen, and the checks: the ten of a gateway that
watches for loops, or those of one that answers from its cache (`SENTINEL_CHECKS=cache`): two with texts, and two with calls where the
agent has tools."""

import os
import time
import urllib.request

URL = os.environ["SENTINEL_URL"]
ADMIN = os.environ["SENTINEL_ADMIN"]
STOPPED = os.environ["SENTINEL_STOPPED"]
QUESTION = "Why does the nightly export of the customer table stop half way?"
# The mock provider answers with twenty words.
WORDS = 20


# Whether the gateway answers from its cache.
IS_CACHED = os.environ.get("SENTINEL_CHECKS") == "cache"


def counter(wanted):
    """A counter of Envoy, or `None` if it does not exist yet."""
    with urllib.request.urlopen(ADMIN + "/stats?filter=" + wanted) as answer:
        for line in answer.read().decode().splitlines():
            name, value = line.rsplit(": ", 1)
            if name == wanted:
                return int(value)
    return None


def attempts():
    """Requests that have reached Envoy's listener so far."""
    count = counter("http.agents.downstream_rq_total")
    expect(count is not None, "Envoy does not count its requests")
    return count


def hits():
    """Requests that were answered from the cache so far."""
    return counter("wasmcustom.sentinel_cache_hits_total.type.exact") or 0


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def run(name, api):
    """The ten checks. `api` has, each for an agent of the given name:

    ask(agent, text) -> text; stream(agent, text) -> list of pieces; tool(agent, text) -> (name, arguments), and
    stream_tool; verdict(agent, text) -> value of x-sentinel-verdict; refusal: the class of the error that a kill raises,
    with the status in `code` or `status_code`.
    """

    if IS_CACHED:
        cached(name, api)
        return

    text = api.ask(f"{name}-normal", "What does the report say about the third quarter?")
    expect(len(text.split()) == WORDS, text)
    done(name, "normal")

    pieces = api.stream(f"{name}-stream", "What does the report say about the fourth quarter?")
    expect(len(pieces) > 3 and len("".join(pieces).split()) == WORDS, pieces)
    done(name, "streaming")

    for check, call in (("tools", api.tool), ("tools, streaming", api.stream_tool)):
        tool, arguments = call(f"{name}-tool", f"What is the weather in Hamburg today ({check})?")
        expect((tool, arguments) == ("get_weather", {"city": "Hamburg", "unit": "celsius"}), (tool, arguments))
        done(name, check)

    hinted(name, api)

    # Two attempts of each three fail: what the SDK sends again is no repetition.
    before = attempts()
    verdicts = [api.verdict(f"unlucky-{name}", QUESTION) for _ in range(4)]
    expect(verdicts == ["allow", "allow", "allow", "hint"], verdicts)
    expect(attempts() - before == 12, f"{attempts() - before} attempts for four calls that fail twice each")
    done(name, "retried")

    stopped(name, api)


def run_small(name, api):
    """The five checks of what a stuck agent sees. `api` has ask, stream, verdict and refusal."""
    if IS_CACHED:
        cached(name, api)
        return
    hinted(name, api)
    stopped(name, api)


def cached(name, api):
    """What was stored from one form is read in both. Each request is another agent's: nobody repeats itself."""
    for check, first, other in (("stored from JSON", api.ask, api.stream), ("stored from a stream", api.stream, api.ask)):
        question = f"What does the report on {name} say about the part that was {check}?"
        text, again = ("".join(said) for said in served(name, check, question, first, other))
        expect(again == text and len(text.split()) == WORDS, (text, again))
        done(name, check)
    if not hasattr(api, "tool"):
        return
    for check, first, other in (("call stored from JSON", api.tool, api.stream_tool), ("call stored from a stream", api.stream_tool, api.tool)):
        question = f"Where on the map lies Hamburg ({check} by {name})?"
        for call in served(name, check, question, first, other):
            expect(tuple(call) == ("get_weather", {"city": "Hamburg", "unit": "celsius"}), call)
        done(name, check)


def served(name, check, question, first, other):
    """What the cache gives in the form in which it was stored, and in the other."""
    # An answer is stored behind the response.
    for number in range(400):
        before = hits()
        said = first(f"{name}-{check}-{number}", question)
        if hits() > before:
            break
        time.sleep(0.05)
    else:
        raise AssertionError("nothing was stored")
    before = hits()
    again = other(f"{name}-{check}-other", question)
    expect(hits() == before + 1, "the other form was not answered from the cache")
    return said, again


def done(name, check):
    print(f"ok {name}: {check}")


def hinted(name, api):
    verdicts = [api.verdict(f"{name}-hint", QUESTION) for _ in range(4)]
    expect(verdicts == ["allow", "allow", "allow", "hint"], verdicts)
    done(name, "hinted")


def stopped(name, api):
    for check, call in (("killed by an error", api.ask), ("killed by an error, streaming", api.stream)):
        agent = f"{name}-{call.__name__}-error"
        for _ in range(4):
            call(agent, QUESTION)
        before = attempts()
        try:
            call(agent, QUESTION)
        except api.refusal as error:
            status = getattr(error, "status_code", None) or getattr(error, "code", None)
            expect(status == 400, error)
            expect(STOPPED in str(error), error)
        else:
            raise AssertionError("the fifth repetition was not killed")
        expect(attempts() - before == 1, f"{attempts() - before} attempts for one killed call")
        done(name, check)

    for check, call in (("ended by a message", api.ask), ("ended by a message, streaming", api.stream)):
        agent = f"final-{name}-{call.__name__}"
        for _ in range(4):
            call(agent, QUESTION)
        before = attempts()
        said = call(agent, QUESTION)
        expect("".join(said) == STOPPED, said)
        expect(attempts() - before == 1, f"{attempts() - before} attempts for one killed call")
        done(name, check)
