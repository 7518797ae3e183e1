"""A number of steps beside a number of epochs: the steps win.

Why: where max_steps is positive, num_train_epochs has no effect; who set both meant one of them.
Refuted by: max_steps of 0 or less, steps that are computed from the epochs, epochs that are left at their default, values
that a command line may change.
Holds for: transformers and trl, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from firstcause.check.code import Call, Code, finding
from firstcause.check.constants import Constant
from firstcause.check.facts.engines import TRAINER
from firstcause.check.facts.filled import options, parsed
from firstcause.check.facts.table import families
from firstcause.check.rule import Example
from firstcause.check.step_counts import parts_of_steps
from firstcause.schema.finding import Category, Finding
from firstcause.source.arguments import spread
from firstcause.source.callsites import last_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.launch import SUFFIXES
from firstcause.source.walk import Origin

SLUG = "max-steps-overrides-epochs"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for family in families():
        for call in code.calls(*family.calls) if family.name in TRAINER else ():
            steps, epochs = call.constant("max_steps"), call.constant("num_train_epochs")
            if steps is None and epochs is not None:
                yield from _of_data(code, call, epochs)
            if steps is None or epochs is None or steps.overridable or epochs.overridable:
                continue
            value, given = call.argument("max_steps"), call.argument("num_train_epochs")
            if value is None or given is None:
                continue
            if _beats(steps, epochs) and not _computed(value, steps, given):
                place = Value(call.module, value.node)
                whole = _found(code, place, _words(steps, epochs), str(steps.value), epochs)
                # Of a mapping that is spread, the entry is what is to be changed.
                spreads = all(k.arg != "max_steps" for k in call.node.keywords)
                yield replace(whole, site=steps.site, end_line=steps.site.line) if spreads else whole
    for call, family in parsed(code):
        both = [tuple(options(call, name)) for name in ("max_steps", "num_train_epochs")]
        if family.name in TRAINER and all(len(found) == 1 for found in both):
            steps, epochs = both[0][0], both[1][0]
            # Options of a script may be those of two launches.
            same = steps.site.file == epochs.site.file and not steps.site.file.endswith(SUFFIXES)
            if same and _beats(steps, epochs):
                place, text = Value(call.module, call.node), _words(steps, epochs)
                whole = _found(code, place, text, str(steps.value), epochs)
                # Where a configuration or a launch says it, that is where it is to be changed.
                yield replace(whole, site=steps.site, end_line=steps.site.line)


def _beats(steps: Constant, epochs: Constant) -> bool:
    return isinstance(epochs.value, (int, float)) and type(steps.value) is int and steps.value > 0


def _words(steps: Constant, epochs: Constant) -> str:
    return f"max_steps={steps.value} beats num_train_epochs={epochs.value}, which then does nothing; keep one of them"


def _found(code: Code, place: Value, text: str, got: str, epochs: Constant) -> Finding:
    """A warning, or, where the brief asks for epochs and for no number of steps, what is not as asked."""
    wanted = [i for i in code.asked("epochs") if i.polarity == "require"]
    asked = str(wanted[0].value) if wanted and not code.asked("max_steps") else ""
    return finding(
        SLUG,
        "deviation" if asked else CATEGORY,
        place.module,
        place.node,
        text,
        asked=asked,
        got=got,
        key="epochs" if asked else "max_steps",
        argument="max_steps",
        related=(epochs.site,),
    )


def _of_data(code: Code, call: Call, epochs: Constant) -> Iterator[Finding]:
    """Steps that are computed from the length of the data alone: one pass, whatever number of epochs is given."""
    several = isinstance(epochs.value, (int, float)) and epochs.value > 1
    steps, given = _origins(code, call, "max_steps"), _origins(code, call, "num_train_epochs")
    if not several or len(steps) != 1 or not isinstance(steps[0].node, ast.expr) or not steps[0].exact:
        return
    made = steps[0].node
    parts = parts_of_steps(code, steps[0].module, made)
    names = {n for o in given for x in (*(h.node for h in o.hops), o.node) if (n := last_name(x))}
    names |= {last_name(k.value) for k in call.node.keywords if k.arg == "num_train_epochs"} - {""}
    on_the_way = {n for h in steps[0].hops if (n := last_name(h.node))}
    related = names & (parts.names | on_the_way) or {o.node for o in given} & parts.nodes
    if not parts.known or not parts.of_data or related or epochs.value in parts.factors:
        return
    shown = ast.unparse(made)
    text = (
        f"max_steps is computed without the epochs ({shown}) and beats num_train_epochs={epochs.value}, which then does "
        "nothing; leave max_steps out, or multiply it by the epochs"
    )
    yield _found(code, _place(call, steps[0]), text, shown, epochs)


def _origins(code: Code, call: Call, name: str) -> list[Origin]:
    """Where an argument is computed, given by its name or by one of the mappings that are spread."""
    plain = next((k.value for k in call.node.keywords if k.arg == name), None)
    if plain is not None:
        return new_walk(code.project).origins(Value(call.module, plain))
    for given in spread(call.node, name):
        found = new_walk(code.project).origins(Value(call.module, given.node, None, given.path))
        if found and all(o.kind != "unknown" for o in found):
            return found
    return []


def _place(call: Call, steps: Origin) -> Value:
    """Where the steps are given to the settings: the argument, or the entry of the mapping that is spread."""
    plain = next((k.value for k in call.node.keywords if k.arg == "max_steps"), None)
    if plain is not None:
        return Value(call.module, plain)
    for hop in steps.hops:
        parent = hop.module.parents.get(hop.node)
        in_mapping = isinstance(parent, ast.Dict) or (
            isinstance(parent, ast.keyword) and parent.arg == "max_steps"
        )
        if in_mapping and isinstance(hop.node, ast.expr):
            return Value(hop.module, hop.node)
    return Value(call.module, call.node)


def _computed(value: Value, steps: Constant, epochs: Value) -> bool:
    """Whether the steps are so many for each of the epochs, where they are given or where they are made."""
    name = re.escape(last_name(epochs.node))
    texts = (ast.unparse(value.node), steps.site.text)
    return bool(name) and any("*" in t and re.search(rf"\b{name}\b", t) for t in texts)


_CODE = """
from transformers import TrainingArguments
args = TrainingArguments(
    output_dir="out",
    num_train_epochs=3,
    {more}
)
"""
_PLAN = """
from dataclasses import dataclass, field
from transformers import TrainingArguments

@dataclass(frozen=True)
class Plan:
    epochs: int | None = {epochs}
    updates: int = {updates}

    @property
    def total(self) -> int:
        return self.epochs * 100

@dataclass(frozen=True)
class Settings:
    plan: Plan = field(default_factory=Plan)

def arguments(settings: Settings) -> TrainingArguments:
    plan = settings.plan
    return TrainingArguments(
        output_dir="out",
        num_train_epochs=plan.epochs,
        max_steps={steps},{mark}
    )

def main():
    arguments(Settings({given}))
"""


def _plan(
    epochs: str = "3", updates: str = "900", steps: str = "plan.updates", given: str = "", mark: str = ""
) -> Example:
    return Example(_PLAN.format(epochs=epochs, updates=updates, steps=steps, given=given, mark=mark))


_SPREAD = """
import math
from trl import SFTConfig
PASSES = {passes}
BATCH, ACCUMULATE = 8, 2

def main(pairs):
    updates = {updates}
    common = {{"output_dir": "out", "num_train_epochs": PASSES}}
    times = {{
        "logging_steps": 10,
        "max_steps": updates,{mark}
    }}
    return SFTConfig(**common, **times)
"""


def _spread(updates: str, passes: int = 2, mark: str = "") -> Example:
    return Example(_SPREAD.format(updates=updates, passes=passes, mark=mark))


BAD = (
    _spread("math.ceil(len(pairs) / (BATCH * ACCUMULATE))", mark="  # found"),
    Example("""
from transformers import TrainingArguments

def settings(data, batch):
    per_epoch = max(1, -(-data.num_rows // batch))
    return TrainingArguments(num_train_epochs=3, max_steps=per_epoch)  # found
"""),
    Example(_CODE.format(more="max_steps=1000,  # found")),
    Example(
        "from trl import SFTConfig\nSTEPS = 50\nSFTConfig(num_train_epochs=1, max_steps=STEPS)  # found\n"
    ),
    _plan(mark="  # found"),
    _plan(updates="-1", given="Plan(updates=40)", mark="  # found"),
)
GOOD = (
    _spread("math.ceil(len(pairs) / (BATCH * ACCUMULATE)) * PASSES"),
    _spread("math.ceil(len(pairs) / (BATCH * ACCUMULATE)) * 2"),
    _spread("math.ceil(len(pairs) / (BATCH * ACCUMULATE))", passes=1),
    _spread("-1 if len(pairs) > 1000 else len(pairs)"),
    Example("""
from transformers import TrainingArguments

def settings(data, batch, epochs=3):
    steps = len(data) // batch
    total = steps * epochs
    return TrainingArguments(num_train_epochs=epochs, max_steps=total)
"""),
    Example("""
from transformers import TrainingArguments

def settings(data, batch):
    return TrainingArguments(output_dir="out", max_steps=len(data) // batch)
"""),
    Example(_CODE.format(more="max_steps=-1,")),
    Example(_CODE.format(more="save_steps=1000,")),
    Example(_CODE.format(more="max_steps=args.max_steps,")),
    _plan(updates="-1"),
    _plan(given="Plan(updates=-1)"),
    _plan(epochs="None"),
    _plan(steps="plan.total"),
)
