"""An adapter is built and reaches no model, or no request.

Why: all weights are trained, or none of them as meant: memory and result differ from what the configuration says. In vLLM
a LoRARequest that no call is given leaves every answer to the base model.
Refuted by: get_peft_model, add_adapter, peft_config given to a trainer, a configuration that is handed on out of sight;
lora_request given to a call.
Holds for: peft, vLLM, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.engines import generations
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
    yield from _of_requests(code)


def _of_requests(code: Code) -> Iterator[Finding]:
    """Generations of a vLLM engine that was told to take adapters, where none of them is given one."""
    engines = [c for c in code.calls("vllm.LLM") if (e := c.constant("enable_lora")) and e.value is True]
    asking = [g.call for g in generations(code) if g.kind == "vllm"]
    known = code.calls("vllm.lora.request.LoRARequest") and not any(
        c.may_have("default_mm_loras") for c in engines
    )
    if (
        not engines
        or not known
        or not asking
        or any(c.may_have("lora_request") or len(c.node.args) > 3 for c in asking)
    ):
        return
    for call in asking:
        text = (
            "this engine takes adapters (enable_lora), and the call is given none: every answer comes from the base model; "
            "hand it lora_request=LoRARequest(…)"
        )
        yield finding(SLUG, CATEGORY, call.module, call.node, text, key="method", related=(engines[0].site,))


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
_SERVED = """
from vllm import LLM, SamplingParams
from vllm.lora.request import LoRARequest

llm = LLM(model="org/base", enable_lora=True, max_lora_rank=16)
adapter = LoRARequest("own", 1, "adapters/own")
outputs = llm.chat(conversations, SamplingParams(max_tokens=64){given}){mark}
"""
BAD = (
    Example(_SERVED.format(given="", mark="  # found")),
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
    Example(_SERVED.format(given=", lora_request=adapter", mark="")),
    Example(_BODY.format(mark="", use="model = get_peft_model(model, config)", given="")),
    Example(_BODY.format(mark="", use="", given=", peft_config=config")),
    Example("""
from peft import LoraConfig

def make():
    return LoraConfig(r=8)
"""),
)
