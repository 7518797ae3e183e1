"""Broken JSON of a model is mended by hand where the engine can be held to JSON.

Why: guided decoding gives valid JSON by construction; mending guesses, and loses answers that it cannot mend.
Refuted by: an engine without guided decoding, answers of an API, a plain json.loads.
Holds for: vllm since 0.4, sglang.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.makers import call_of
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.launch import servers
from firstcause.source.module import Module

SLUG = "hand-written-json-repair"
CATEGORY: Category = "overengineering"
HOLDS: Mapping[str, str] = {}

GUIDED = ("guided_decoding", "structured_outputs", "json_schema", "guided_json", "regex", "response_format")


def find(code: Code) -> Iterator[Finding]:
    asked = any(i.polarity == "require" for i in code.asked("structured_output"))
    if asked and code.imports("openai"):
        yield from _of_server(code)
    engines = code.calls("vllm.LLM", "sglang.Engine")
    if not engines or any(k.arg in GUIDED for m in code.modules for k in m.nodes(ast.keyword)):
        return
    category: Category = "deviation" if asked else CATEGORY
    key = "structured_output" if asked else ""
    for module in code.modules:
        for function in module.nodes(ast.FunctionDef):
            edits = _edits(code, module, function)
            if edits >= (1 if asked else 2) and _reads_json(code, module, function):
                text = f"{function.name} mends JSON by {edits} edits; structured outputs of {engines[0].name} give it whole"
                yield finding(SLUG, category, module, function, text, key=key, related=(engines[0].site,))
    for call in code.calls("json_repair.repair_json", "json_repair.loads"):
        text = f"{call.name} mends what structured outputs of {engines[0].name} would give whole"
        yield finding(SLUG, category, call.module, call.node, text, key=key, related=(engines[0].site,))


def _of_server(code: Code) -> Iterator[Finding]:
    """Answers of a server of one's own that was to hold them to a form, mended by its client."""
    for server in servers(code.project)[:1]:
        for module in code.modules:
            for function in module.nodes(ast.FunctionDef):
                edits = _edits(code, module, function)
                names = {call_of(code, module, n).name for n in ast.walk(function) if isinstance(n, ast.Call)}
                if edits >= 2 and "json.loads" in names:
                    text = f"{function.name} mends JSON by {edits} edits; structured outputs of {server.launcher} give it whole"
                    place = server.file.site(server.words[0])
                    yield finding(SLUG, CATEGORY, module, function, text, related=(place,))


def _reads_json(code: Code, module: Module, function: ast.FunctionDef) -> bool:
    """json.loads under a try that catches its error."""
    for node in ast.walk(function):
        if isinstance(node, ast.Try):
            inside = [n for part in node.body for n in ast.walk(part) if isinstance(n, ast.Call)]
            if any(call_of(code, module, n).name == "json.loads" for n in inside):
                return True
    return False


def _edits(code: Code, module: Module, function: ast.FunctionDef) -> int:
    """How often a text is edited: replaced, cut at brackets, completed."""
    found = 0
    for node in ast.walk(function):
        if isinstance(node, ast.Call):
            name = call_of(code, module, node).name
            bracket = any(
                isinstance(a, ast.Constant) and isinstance(a.value, str) and set(a.value) & set("{}[]'\",`")
                for a in node.args
            )
            searched = name in ("re.search", "re.findall", "re.match", "re.compile")
            cuts = searched and any(b in text for text in _patterns(node) for b in ("{", "```", "\\["))
            found += (
                name == "re.sub"
                or cuts
                or (name in (".replace", ".find", ".rfind", ".index", ".rindex", ".count") and bracket)
            )
        elif isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant):
            found += node.value.value in ("}", "]", '"', "]}", '"}')
    return found


def _patterns(call: ast.Call) -> list[str]:
    return [a.value for a in call.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str)]


_BODY = """
import json
import re
from vllm import LLM, SamplingParams

llm = LLM(model="org/model")

def parse(text):{mark}
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        {mend}
        return json.loads(text)
"""
_MEND = 'text = re.sub(r",\\\\s*}", "}", text)\n        text = text.replace("\'", chr(34))'
_CLIENT = """
import json
import re
from openai import OpenAI

client = OpenAI(base_url="http://localhost:8000/v1", api_key="none")

def salvage(text):{mark}
    {mend}
    return json.loads(text)

def ask(question):
    answer = client.chat.completions.create(model="org/model", messages=[{{"role": "user", "content": question}}])
    return salvage(answer.choices[0].message.content)
"""
_SERVER = {"serve.sh": "vllm serve org/model --port 8000\n"}
_STRIP = 'text = re.sub(r"^```(json)?|```$", "", text.strip())\n    text = text[text.find("{"):text.rfind("}") + 1]'
BAD = (
    Example(
        _CLIENT.format(mark="  # found", mend=_STRIP),
        files=_SERVER,
        asked={"structured_output": "json_schema"},
    ),
    Example(
        """
import json
import re
import sglang

engine = sglang.Engine(model_path="org/model")

def first_object(text):  # found
    found = re.search(r"[{].*[}]", text, re.S)
    try:
        return json.loads(found.group(0))
    except (AttributeError, ValueError):
        return None
""",
        asked={"structured_output": "json_schema"},
    ),
    Example(_BODY.format(mark="  # found", mend=_MEND)),
    Example(_BODY.format(mark="  # found", mend='text = text[text.find("{"):]\n        text += "}"')),
)
GOOD = (
    Example(_CLIENT.format(mark="", mend=_STRIP), asked={"structured_output": "json_schema"}),
    Example(
        _CLIENT.format(mark="", mend="text = text.strip()"),
        files=_SERVER,
        asked={"structured_output": "json_schema"},
    ),
    Example(
        """
import json
from vllm import LLM

llm = LLM(model="org/model")

def parse(text):
    try:
        return json.loads(text)
    except ValueError:
        return None
""",
        asked={"structured_output": "json"},
    ),
    Example(_BODY.format(mark="", mend="raise")),
    Example(
        _BODY.format(mark="", mend=_MEND).replace(
            "from vllm import LLM, SamplingParams", "from openai import LLM"
        )
    ),
    Example(
        _BODY.format(mark="", mend=_MEND) + '\nparams = SamplingParams(structured_outputs={"json": {}})\n'
    ),
)
