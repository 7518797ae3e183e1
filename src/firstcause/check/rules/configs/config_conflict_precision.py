"""Two precisions at once: fp16 and bf16 both on, or an engine's configuration against the training arguments.

Why: DeepSpeed refuses both together, and the Trainer stops where its flags and the configuration differ.
Refuted by: "auto", a flag that a command line may change, a section that is not enabled.
Holds for: deepspeed, transformers and accelerate, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code
from firstcause.check.constants import Constant
from firstcause.check.facts.engines import (
    TRAINER,
    Configuration,
    accelerate_configurations,
    deepspeed_configurations,
)
from firstcause.check.facts.normal import normal
from firstcause.check.facts.table import families
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "config-conflict-precision"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

FLAGS = ("fp16", "bf16")


def find(code: Code) -> Iterator[Finding]:
    trainers = [c for f in families() if f.name in TRAINER for c in code.calls(*f.calls)]
    for one in deepspeed_configurations(code):
        on = {f: e for f in FLAGS if (e := one.enabled(f)) is not None}
        if len(on) == 2:
            text = "bf16 and fp16 are both enabled: DeepSpeed takes one of them; turn the other off"
            yield _found(on["bf16"], on["fp16"], text, "bf16" if _asks(code, "bf16") else "", "bf16, fp16")
            continue
        callers = [c for c in trainers if c.may_have("deepspeed")] or trainers
        yield from _against(one, on, callers)
    yield from _both_flags(trainers)
    yield from _launcher(code)


def _asks(code: Code, precision: str) -> bool:
    return any(i.value == precision for i in code.asked("precision"))


def _against(one: Configuration, on: Mapping[str, Constant], callers: list[Call]) -> Iterator[Finding]:
    flags = {f: v for c in callers for f in FLAGS if (v := c.constant(f)) is not None and not v.overridable}
    wanted = [f for f in FLAGS if f in flags and flags[f].value is True]
    if len(callers) != 1 or len(wanted) != 1:
        return
    asked, other = wanted[0], "fp16" if wanted[0] == "bf16" else "bf16"
    if other in on:
        text = f"{other} is enabled here and the training arguments say {asked}=True: the Trainer stops at the mismatch"
        yield _found(on[other], flags[asked], text, asked, other)
        return
    off = one.entry(asked, "enabled")
    if off is not None and off.value is False:
        text = f"{asked} is off here and the training arguments say {asked}=True: the Trainer stops at the mismatch"
        yield _found(off, flags[asked], text, asked, "fp32")


def _both_flags(trainers: list[Call]) -> Iterator[Finding]:
    for call in trainers:
        given = {f: v for f in FLAGS if (v := call.constant(f)) is not None and v.value is True}
        if len(given) == 2:
            text = "fp16=True and bf16=True together: TrainingArguments raises; at most one can be on"
            yield _found(given["fp16"], given["bf16"], text, "", "fp16, bf16")


def _launcher(code: Code) -> Iterator[Finding]:
    """Accelerator(mixed_precision=…) beats the launcher's configuration without a word."""
    calls = code.calls("accelerate.Accelerator")
    given = calls[0].constant("mixed_precision") if len(calls) == 1 else None
    for one in accelerate_configurations(code) if given is not None and not given.overridable else ():
        said = one.entry("mixed_precision")
        plain = "no" if said is not None and said.value is False else said.value if said is not None else None
        if said is None or given is None or given.value is None:
            continue
        if normal("precision", plain) != normal("precision", given.value):
            text = f"mixed_precision is {plain} here and Accelerator(mixed_precision={given.value!r}) beats it without a word"
            yield Finding(
                SLUG,
                "warning",
                said.site,
                text,
                str(given.value),
                str(plain),
                "precision",
                "mixed_precision",
                related=(given.site,),
            )


def _found(said: Constant, other: Constant, text: str, asked: str, got: str) -> Finding:
    return Finding(
        SLUG, CATEGORY, said.site, text, asked, got, "precision", got.partition(",")[0], related=(other.site,)
    )


_TRAIN = """
from transformers import TrainingArguments
DS = {{
    "fp16": {{
        "enabled": {fp16},{mark}
    }},
    "bf16": {{"enabled": {bf16}}},
}}
args = TrainingArguments(output_dir="out", deepspeed=DS, {flags})
"""
_MARK = "  # found"
_ACCELERATOR = """
from accelerate import Accelerator
accelerator = Accelerator(mixed_precision="fp16")
"""
_YAML = "compute_environment: LOCAL_MACHINE\nmixed_precision: {}\nnum_processes: 2\n"
BAD = (
    Example(_TRAIN.format(fp16="True", bf16="False", mark=_MARK, flags="bf16=True")),
    Example(_ACCELERATOR, {"accelerate.yaml": _YAML.format("bf16  # found")}),
    Example(_TRAIN.format(fp16="False", bf16="False", mark="", flags="fp16=True, bf16=True  # found\n")),
)
GOOD = (
    Example(_TRAIN.format(fp16="False", bf16="True", mark="", flags="bf16=True")),
    Example(_TRAIN.format(fp16='"auto"', bf16='"auto"', mark="", flags="bf16=True")),
    Example(_TRAIN.format(fp16="True", bf16="False", mark="", flags="fp16=use_half")),
    Example(_ACCELERATOR, {"accelerate.yaml": _YAML.format("fp16")}),
)
