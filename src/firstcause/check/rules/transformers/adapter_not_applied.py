"""An adapter's configuration is built and reaches no model.

Why: all weights are trained, or none of them as meant: memory and result differ from what the configuration says.
Refuted by: get_peft_model, add_adapter, peft_config given to a trainer, a configuration that is handed on out of sight.
Holds for: peft, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "adapter-not-applied"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

CONFIGS = (
    "peft.LoraConfig",
    "peft.AdaLoraConfig",
    "peft.IA3Config",
    "peft.PrefixTuningConfig",
    "peft.PromptTuningConfig",
)


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls(*CONFIGS):
        name = _held_in(call)
        if name is None or _read(call, name):
            continue
        text = (
            f"{name} is built and never used: no adapter reaches the model, so all of its weights are trained"
        )
        yield finding(SLUG, CATEGORY, call.module, call.node, text, key="method", asked="lora", got="full")


def _held_in(call: Call) -> str | None:
    """The one name that the configuration is stored in."""
    statement = call.module.statement(call.node)
    if isinstance(statement, ast.Expr) and statement.value is call.node:
        return ast.unparse(call.node.func)
    if (
        not isinstance(statement, ast.Assign)
        or statement.value is not call.node
        or len(statement.targets) != 1
    ):
        return None
    target = statement.targets[0]
    return target.id if isinstance(target, ast.Name) else None


def _read(call: Call, name: str) -> bool:
    """Whether the name is read anywhere in its function, or anywhere at all where it is a module's."""
    function = call.module.function(call.node)
    names = (
        call.module.nodes(ast.Name)
        if function is None
        else (n for n in ast.walk(function) if isinstance(n, ast.Name))
    )
    return any(n.id == name and isinstance(n.ctx, ast.Load) for n in names)


_BODY = """
from peft import LoraConfig, get_peft_model
from trl import SFTTrainer

def main(model, data):
    config = LoraConfig(r=8){mark}
    {use}
    SFTTrainer(model=model, train_dataset=data{given}).train()
"""
BAD = (
    Example(_BODY.format(mark="  # found", use="", given="")),
    Example("""
from peft import LoraConfig
from transformers import Trainer

peft_config = LoraConfig(r=16, target_modules=["q_proj"])  # found

def main(model, data):
    Trainer(model=model, train_dataset=data).train()
"""),
)
GOOD = (
    Example(_BODY.format(mark="", use="model = get_peft_model(model, config)", given="")),
    Example(_BODY.format(mark="", use="", given=", peft_config=config")),
    Example("""
from peft import LoraConfig

def make():
    return LoraConfig(r=8)
"""),
)
