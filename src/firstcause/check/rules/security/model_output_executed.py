"""What a model wrote is run as code.

Why: a prompt, or a document that the model read, can make it write anything: it then runs with your rights.
Refuted by: json.loads, ast.literal_eval, a sandbox.
Holds for: every library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.answers import is_answer
from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "model-output-executed"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls("builtins.eval", "builtins.exec", "os.system", "subprocess.run"):
        shell = call.name not in ("subprocess.run",) or call.may_have("shell")
        if shell and call.node.args and is_answer(code, call.module, call.node.args[0]):
            text = (
                f"{call.name.removeprefix('builtins.')} runs what a model wrote; json.loads reads data alone"
            )
            yield finding(SLUG, CATEGORY, call.module, call.node, text)


_BODY = """
import ast
from vllm import LLM

llm = LLM(model="org/model")
for out in llm.generate(["Give a dict."]):
    text = out.outputs[0].text
    print({run}){mark}
"""
BAD = (
    Example(_BODY.format(run="eval(text)", mark="  # found")),
    Example(_BODY.format(run="exec(text.strip())", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(run="ast.literal_eval(text)", mark="")),
    Example(_BODY.format(run="eval('1 + 1')", mark="")),
    Example("def run(model, text):\n    model.eval()\n    return eval(text)\n"),
)
