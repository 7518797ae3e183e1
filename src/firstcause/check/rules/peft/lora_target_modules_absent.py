"""An adapter is put on layers that the model does not have.

Why: peft raises where none of the names is found, and silently leaves out those that are not.
Refuted by: names of the model's own layers, "all-linear", a pattern, a checkpoint whose architecture the name does not tell.
Holds for: peft, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from firstcause.check.checkpoints import architecture
from firstcause.check.code import Call, Code, finding
from firstcause.check.facts.models import model_calls
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "lora-target-modules-absent"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

CONFIGS = ("peft.LoraConfig", "peft.AdaLoraConfig", "peft.LoHaConfig", "peft.LoKrConfig", "peft.IA3Config")


def find(code: Code) -> Iterator[Finding]:
    configs = code.calls(*CONFIGS)
    names = _checkpoints(code) if configs else set()
    if len(names) != 1 or "" in names:
        return
    checkpoint = names.pop()
    known = architecture(checkpoint)
    for config in configs if known is not None else ():
        assert known is not None
        targets = config.constant("target_modules")
        values = (
            [targets.value]
            if targets and isinstance(targets.value, str)
            else targets.value
            if targets
            else []
        )
        if not isinstance(values, list) or not values or any(not _plain(v) for v in values):
            continue
        absent = [v for v in values if v.rpartition(".")[2] not in known.modules]
        if not absent:
            continue
        value = config.argument("target_modules")
        node = value.node if value is not None and value.module is config.module else config.node
        module = config.module
        if targets is not None and targets.site.file != config.site.file:
            # Where they are written: a file of settings.
            written = (
                [o for o in code.origins(value.module, value.node) if isinstance(o.node, ast.expr)]
                if value
                else []
            )
            if len(written) == 1:
                module, node = written[0].module, written[0].node  # type: ignore[assignment]
        text = f"{checkpoint} ({known.name}) has no layer {', '.join(absent)}"
        text += "; its layers: " + ", ".join(sorted(known.modules)[:10])
        category: Category = CATEGORY if len(absent) == len(values) else "warning"
        yield finding(
            SLUG,
            category,
            module,
            node,
            text,
            key="lora_target_modules",
            argument="target_modules",
            got=",".join(map(str, values)),
        )


def _checkpoints(code: Code) -> set[str]:
    """The names of what is loaded; trl's trainers take a checkpoint's name themselves."""
    given = [c.constant("model", 0) for c in code.calls_within("trl.")]
    return {_name(c) for c in model_calls(code)} | {m.value for m in given if m and isinstance(m.value, str)}


def _name(call: Call) -> str:
    name = call.constant("pretrained_model_name_or_path", 0)
    return name.value if name is not None and isinstance(name.value, str) else ""


def _plain(name: object) -> bool:
    return isinstance(name, str) and name != "all-linear" and re.fullmatch(r"[\w.]+", name) is not None


_BODY = """
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("{name}")
config = LoraConfig(r=8, target_modules={targets}){mark}
model = get_peft_model(model, config)
"""
BAD = (
    Example(_BODY.format(name="gpt2", targets='["q_proj", "v_proj"]', mark="  # found")),
    Example(_BODY.format(name="meta-llama/Llama-3.1-8B", targets='["query_key_value"]', mark="  # found")),
    Example(_BODY.format(name="facebook/opt-350m", targets='["q_proj", "o_proj"]', mark="  # found")),
)
GOOD = (
    Example(_BODY.format(name="gpt2", targets='["c_attn", "c_proj"]', mark="")),
    Example(_BODY.format(name="meta-llama/Llama-3.1-8B", targets='"all-linear"', mark="")),
    Example(_BODY.format(name="meta-llama/Llama-3.1-8B", targets='r".*mlp.*_proj"', mark="")),
    Example(_BODY.format(name="our/model", targets='["q_proj"]', mark="")),
)
