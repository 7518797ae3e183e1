"""A tracker is written to in a program that never starts it.

Why: wandb.log raises "You must call wandb.init() before wandb.log()", at the first step.
Refuted by: wandb.init, a trainer or accelerator that starts it, a run object that is handed in.
Holds for: wandb, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "log-before-init"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

STARTS = {"init", "init_trackers", "setup", "agent", "init_wandb", "WandbLogger", "WandbCallback"}


def find(code: Code) -> Iterator[Finding]:
    logs = code.calls("wandb.log")
    if not logs or trainer_runs(code) or any(code.imports(x) for x in ("lightning", "pytorch_lightning")):
        return
    if code.calls("wandb.init", "wandb.setup", "wandb.agent", "wandb.sdk.wandb_init.init"):
        return
    # A file that is a part of a larger program may be called after the start; a program of its own is not.
    if code.called_names() & STARTS or not _is_program(code):
        return
    text = "wandb.log is called and wandb.init nowhere: the first call raises"
    yield finding(SLUG, CATEGORY, logs[0].module, logs[0].node, text)


def _is_program(code: Code) -> bool:
    """Whether the files hold their own start: statements that train, or a guard of __main__."""
    return any("__name__" in m.text and "__main__" in m.text for m in code.modules) or any(
        m.function(c.node) is None for m in code.modules for c in code.methods("backward") if c.module is m
    )


_BODY = """
import wandb

def main(model, loader):
    {start}
    for step, batch in enumerate(loader):
        wandb.log({{"loss": model(batch)}}){mark}

if __name__ == "__main__":
    main(len, [[1], [2]])
"""
BAD = (
    Example(_BODY.format(start="pass", mark="  # found")),
    Example(_BODY.format(start='wandb.login(key="x")', mark="  # found")),
)
GOOD = (
    Example(_BODY.format(start='wandb.init(project="x")', mark="")),
    Example("import wandb\n\n\ndef show(loss):\n    wandb.log({'loss': loss})\n"),
    Example(_BODY.format(start='run = wandb.init(mode="offline")', mark="")),
)
