"""The best checkpoint is chosen the wrong way round: the lowest accuracy, or the highest error rate.

Why: what is kept, loaded at the end or waited for is the worst; callbacks of Lightning take the lowest by default, and
transformers the highest of every figure whose name does not end in "loss".
Refuted by: a figure whose name does not say which way it goes, one that is computed turned round, a best that nobody uses.
Holds for: transformers, trl, lightning, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.facts.engines import TRAINER
from firstcause.check.facts.table import families
from firstcause.check.figures import Way, better
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "metric-for-best-mismatch"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Callbacks, and where among their positional arguments the figure stands; the place of the mode has changed.
WATCHING = {"lightning.callbacks.ModelCheckpoint": 2, "lightning.callbacks.EarlyStopping": 0}
WATCHING |= {f"lightning.{n.rpartition('.')[2]}": at for n, at in WATCHING.items()}
MODES: dict[str, Way] = {"min": "lower", "max": "higher"}
# Names by which a program gets at what was chosen.
USES = ("best_model_path", "best_model_score", "best_model_checkpoint", "best_metric", "best_k_models")


def find(code: Code) -> Iterator[Finding]:
    for call in (
        code.calls(*WATCHING) if code.imports("lightning") or code.imports("pytorch_lightning") else ()
    ):
        yield from _watched(code, call)
    for family in families():
        for call in code.calls(*family.calls) if family.name in TRAINER else ():
            yield from _loaded(code, call)


def _watched(code: Code, call: Call) -> Iterator[Finding]:
    """A callback of Lightning: ``mode`` is "min" where it is left out."""
    position = WATCHING[call.name]
    name, mode = call.constant("monitor", position), call.constant("mode")
    right = _right(code, name.value if name is not None else None)
    written = call.argument("mode")
    if right is None or name is None or (mode is None and call.may_have("mode")) or len(call.node.args) > 4:
        return
    took = MODES.get(mode.value if mode is not None and isinstance(mode.value, str) else "min")
    kept = call.constant("save_top_k")
    if took in (None, right) or (kept is not None and kept.value in (0, -1) and not _uses_best(code)):
        return
    way = f'its mode is "{mode.value}"' if mode is not None else 'its mode is "min" by default'
    wanted = next(m for m, w in MODES.items() if w == right)
    text = f'{name.value} is better when {right}, and {way}, so the worst counts as the best: mode="{wanted}"'
    node = written.node if written is not None and written.module is call.module else call.node
    yield _finding(call.module, node, text, name.value, right)


def _loaded(code: Code, call: Call) -> Iterator[Finding]:
    """Training arguments of transformers: without ``greater_is_better`` the end of the name decides."""
    at_end = call.constant("load_best_model_at_end")
    if not (call.may_have("load_best_model_at_end") if at_end is None else at_end.value) and not _waits(
        code, call
    ):
        return
    name, higher = call.constant("metric_for_best_model"), call.constant("greater_is_better")
    figure = name.value if name is not None else None if call.may_have("metric_for_best_model") else "loss"
    if higher is not None and higher.value is None:
        higher = None
    elif higher is None and call.may_have("greater_is_better"):
        return
    right = _right(code, figure)
    if right is None or not isinstance(figure, str):
        return
    written = call.argument("greater_is_better" if higher is not None else "metric_for_best_model")
    by_default = not figure.endswith("loss")
    took: Way = "higher" if (higher.value if higher is not None else by_default) else "lower"
    if took == right or (higher is not None and not isinstance(higher.value, bool)):
        return
    way = (
        f"greater_is_better is {higher.value}"
        if higher is not None
        else "greater_is_better is True by default"
    )
    text = f"{figure} is better when {right}, and {way}, so the worst counts as the best: greater_is_better={right == 'higher'}"
    node = written.node if written is not None and written.module is call.module else call.node
    yield _finding(call.module, node, text, figure, right)


def _finding(module: Module, node: ast.AST, text: str, figure: str, right: Way) -> Finding:
    asked, got = ("lowest", "highest") if right == "lower" else ("highest", "lowest")
    return finding(
        SLUG, CATEGORY, module, node, text, key="metric_for_best", asked=f"{asked} {figure}", got=f"{got} {figure}"
    )  # fmt: skip


def _right(code: Code, name: object) -> Way | None:
    """Which way a figure goes, where the program does not turn it round itself."""
    right = better(name) if isinstance(name, str) else None
    return None if right is None or _turned(code, str(name)) else right


def _waits(code: Code, call: Call) -> bool:
    """Whether the best is used though it is not loaded: saved alone, waited for, or asked for."""
    saved = call.constant("save_strategy")
    kept = saved is not None and saved.value == "best"
    return kept or "EarlyStoppingCallback" in code.called_names() or _uses_best(code)


def _uses_best(code: Code) -> bool:
    return any(
        (isinstance(n, ast.Attribute) and n.attr in USES)
        or (isinstance(n, ast.Constant) and n.value == "best")
        for m in code.modules
        for kind in (ast.Attribute, ast.Constant)
        for n in m.nodes(kind)
    )


def _turned(code: Code, name: str) -> bool:
    """``{"wer": -wer}`` and ``self.log("val_wer", 1 - wer)``: whether the figure is the other way round where it is made."""
    names = {name, name.removeprefix("eval_")}
    for module in code.modules:
        made = [
            (k, v) for d in module.nodes(ast.Dict) for k, v in zip(d.keys, d.values, strict=True)
        ]  # fmt: skip
        made += [(c.args[0], c.args[1]) for c in module.nodes(ast.Call) if len(c.args) > 1]
        made += [
            (t.slice, a.value) for a in module.nodes(ast.Assign) for t in a.targets if isinstance(t, ast.Subscript)
        ]  # fmt: skip
        for key, value in made:
            if isinstance(key, ast.Constant) and key.value in names:
                found = [o.node for o in code.origins(module, value)]
                if any(_is_turned(n) for n in (value, *found)):
                    return True
    return False


def _is_turned(node: ast.AST) -> bool:
    if (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and getattr(node.func, "id", "") in ("float", "round")
    ):
        return _is_turned(node.args[0])
    minus = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    less = (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Constant)
    )
    return minus or less


_LIGHTNING = """
import lightning as L
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

def main(model, data):
    keep = {keep}
    L.Trainer(callbacks=[keep]).fit(model, datamodule=data)
"""
_TRAINER = """
from dataclasses import dataclass
from transformers import Trainer, TrainingArguments

@dataclass
class Plan:
    metric: str = "eval_wer"
    higher: bool = True

def main(model, data, scores):
    plan = Plan()
    args = TrainingArguments(
        "out",
        eval_strategy="epoch",
{given}
    )
    Trainer(model=model, args=args, train_dataset=data, eval_dataset=data, compute_metrics=scores).train()
"""
_BEST = "        load_best_model_at_end=True,\n        {0}"
BAD = (
    Example(_LIGHTNING.format(keep='ModelCheckpoint(monitor="val_acc")  # found')),
    Example(_LIGHTNING.format(keep='ModelCheckpoint("out", "best", "val/f1_macro", mode="min")  # found')),
    Example(_LIGHTNING.format(keep='EarlyStopping("val_loss", patience=3, mode="max")  # found')),
    Example(_LIGHTNING.format(keep='EarlyStopping(monitor="valid_bleu", patience=3)  # found')),
    Example(
        _TRAINER.format(given=_BEST.format('metric_for_best_model="cer", greater_is_better=True,  # found'))
    ),
    Example(_TRAINER.format(given=_BEST.format('metric_for_best_model="eval_perplexity",  # found'))),
    Example(
        _TRAINER.format(
            given=_BEST.format('metric_for_best_model="accuracy", greater_is_better=False,  # found')
        )
    ),
    Example(_TRAINER.format(given=_BEST.format("greater_is_better=True,  # found"))),
    Example(
        _TRAINER.format(
            given=_BEST.format(
                "metric_for_best_model=plan.metric,\n        greater_is_better=plan.higher,  # found"
            )
        )
    ),
)
GOOD = (
    Example(_LIGHTNING.format(keep='ModelCheckpoint(monitor="val_acc", mode="max")')),
    Example(_LIGHTNING.format(keep='ModelCheckpoint(monitor="val_dice_loss")')),
    Example(_LIGHTNING.format(keep='ModelCheckpoint(monitor="val_quality")')),
    Example(_LIGHTNING.format(keep='ModelCheckpoint(monitor="val_acc", save_top_k=-1)')),
    Example(_LIGHTNING.format(keep='EarlyStopping(monitor="neg_accuracy")')),
    Example(_TRAINER.format(given=_BEST.format('metric_for_best_model="wer", greater_is_better=False,'))),
    Example(_TRAINER.format(given=_BEST.format('metric_for_best_model="eval_squad_f1",'))),
    Example(_TRAINER.format(given=_BEST.format('metric_for_best_model="eval_loss",'))),
    Example(
        _TRAINER.format(
            given=_BEST.format('metric_for_best_model="mae", greater_is_better=None if plan else 1,')
        )
    ),
    Example(_TRAINER.format(given='        metric_for_best_model="wer",')),
    Example(
        _TRAINER.format(given=_BEST.format('metric_for_best_model="wer",'))
        + "\ndef scores(p):\n    return {'wer': -word_errors(p)}\n"
    ),
)
