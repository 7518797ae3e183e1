"""Early stopping is added to a run that never evaluates, or that does not know its best model.

Why: the callback asserts both when training begins, and the run ends there.
Refuted by: an evaluation strategy, metric_for_best_model or load_best_model_at_end, settings that the code does not say.
Holds for: transformers, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.check.trainers import TrainerRun, trainer_runs
from firstcause.schema.finding import Category, Finding
from firstcause.schema.site import Site

SLUG = "early-stopping-without-evaluation"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

CALLBACK = ("transformers.EarlyStoppingCallback", "transformers.trainer_callback.EarlyStoppingCallback")


def find(code: Code) -> Iterator[Finding]:
    for callback in code.calls(*CALLBACK):
        runs = [r for r in trainer_runs(code) if r.settings is not None]
        if len(runs) != 1 or len(trainer_runs(code)) != 1:
            continue
        missing = _missing(runs[0])
        if missing:
            text = f"EarlyStoppingCallback needs {missing}; the run stops at its first step"
            yield finding(
                SLUG, CATEGORY, callback.module, callback.node, text, related=_site(runs[0].settings)
            )


def _site(settings: Call | None) -> tuple[Site, ...]:
    return (settings.site,) if settings is not None else ()


def _missing(run: TrainerRun) -> str:
    assert run.settings is not None
    if any(k.arg is None for k in run.settings.node.keywords):
        return ""
    strategy = [n for n in ("eval_strategy", "evaluation_strategy", "do_eval") if run.sets(n)]
    known = run.setting(strategy[0]) if strategy else None
    if not strategy or (known is not None and known.value == "no"):
        return "an evaluation: eval_strategy is “no”"
    best = any(run.sets(n) for n in ("metric_for_best_model", "load_best_model_at_end"))
    return "" if best else "metric_for_best_model (or load_best_model_at_end=True)"


_BODY = """
from transformers import EarlyStoppingCallback, Trainer, TrainingArguments

def main(model, data):
    args = TrainingArguments("out"{given})
    stop = EarlyStoppingCallback(early_stopping_patience=3){mark}
    Trainer(model, args, train_dataset=data, eval_dataset=data, callbacks=[stop]).train()
"""
BAD = (
    Example(_BODY.format(given="", mark="  # found")),
    Example(_BODY.format(given=', eval_strategy="epoch"', mark="  # found")),
)
GOOD = (
    Example(
        _BODY.format(
            given=', eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True', mark=""
        )
    ),
    Example(_BODY.format(given=', eval_strategy="epoch", metric_for_best_model="loss"', mark="")),
    Example("""
from transformers import EarlyStoppingCallback, Trainer

def main(model, args, data):
    Trainer(model, args, train_dataset=data, callbacks=[EarlyStoppingCallback(3)]).train()
"""),
)
