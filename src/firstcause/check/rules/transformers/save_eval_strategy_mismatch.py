"""The best model is to be loaded at the end, and saving and evaluating do not fit together.

Why: TrainingArguments raises ValueError before anything is trained: both have to happen at the same steps.
Refuted by: equal strategies, save_strategy="best", strategies that the code does not say.
Holds for: transformers, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from firstcause.check.code import Call, Code, finding
from firstcause.check.constants import Named
from firstcause.check.rule import Example
from firstcause.check.trainers import ARGUMENTS, CONFIGS
from firstcause.schema.finding import Category, Finding

SLUG = "save-eval-strategy-mismatch"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls(*ARGUMENTS, *CONFIGS):
        wanted = call.constant("load_best_model_at_end")
        if wanted is None or wanted.value is not True or any(k.arg is None for k in call.node.keywords):
            continue
        evaluated, saved = (
            _strategy(call, ("eval_strategy", "evaluation_strategy"), "no"),
            _strategy(call, ("save_strategy",), "steps"),
        )
        if evaluated is None or saved in (None, "best"):
            continue
        value = call.argument("load_best_model_at_end")
        node = value.node if value is not None and value.module is call.module else call.node
        text = ""
        if evaluated != saved:
            text = f"load_best_model_at_end needs one strategy: evaluated by {evaluated}, saved by {saved}"
        elif saved == "steps":
            text = _steps(call)
        if text:
            yield finding(
                SLUG,
                CATEGORY,
                call.module,
                node,
                text,
                argument="load_best_model_at_end",
                key="save_strategy",
            )


def _strategy(call: Call, names: tuple[str, ...], default: str) -> str | None:
    """The strategy as a word; None where the code does not say it."""
    for name in names:
        if call.may_have(name):
            given = call.constant(name)
            return _word(given.value) if given is not None else None
    return default


def _word(value: Any) -> str | None:
    if isinstance(value, Named):
        return value.name.rpartition(".")[2].lower()
    return value.lower() if isinstance(value, str) else "no" if value is False or value is None else None


def _steps(call: Call) -> str:
    """Saving at steps that are no multiple of those of the evaluation."""
    known = {n: call.constant(n) for n in ("save_steps", "eval_steps", "logging_steps") if call.may_have(n)}
    if any(c is None for c in known.values()):
        return ""
    values = {n: c.value for n, c in known.items() if c is not None}
    save, evaluate = (
        values.get("save_steps", 500),
        values.get("eval_steps") or values.get("logging_steps", 500),
    )
    if not (isinstance(save, int) and isinstance(evaluate, int)) or evaluate <= 0 or save % evaluate == 0:
        return ""
    return f"load_best_model_at_end needs save_steps to be a multiple of eval_steps: {save} and {evaluate}"


_ARGS = """
from transformers import TrainingArguments

args = TrainingArguments(
    output_dir="out",
    {given}
    load_best_model_at_end=True,{mark}
)
"""
BAD = (
    Example(_ARGS.format(given='eval_strategy="epoch",', mark="  # found")),
    Example(_ARGS.format(given='save_strategy="epoch",', mark="  # found")),
    Example(_ARGS.format(given='eval_strategy="steps", eval_steps=200, save_steps=500,', mark="  # found")),
)
GOOD = (
    Example(_ARGS.format(given='eval_strategy="epoch", save_strategy="epoch",', mark="")),
    Example(_ARGS.format(given='eval_strategy="steps", eval_steps=250, save_steps=500,', mark="")),
    Example("""
from transformers import TrainingArguments

def make(strategy):
    return TrainingArguments("out", eval_strategy=strategy, save_strategy="epoch", load_best_model_at_end=True)
"""),
)
