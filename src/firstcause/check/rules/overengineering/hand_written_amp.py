"""Mixed precision by hand inside of what does it by itself.

Why: Accelerator, Fabric and Lightning scale and cast by one setting; a second scaler beside them scales twice.
Refuted by: a loop of one's own without them.
Holds for: accelerate, lightning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.check.trainers import trainer_runs
from firstcause.schema.finding import Category, Finding

SLUG = "hand-written-amp"
CATEGORY: Category = "overengineering"
HOLDS: Mapping[str, str] = {}

SCALERS = ("torch.amp.GradScaler", "torch.cuda.amp.GradScaler")
RUNNERS = {
    "accelerate.Accelerator": "Accelerator(mixed_precision=…)",
    "lightning.Trainer": "Trainer(precision=…)",
    "lightning.Fabric": "Fabric(precision=…)",
}

# The same for what a brief asks for.
ASKED = {
    "accelerate": "Accelerator(mixed_precision=…)",
    "lightning": "Trainer(precision=…)",
    "trainer": "TrainingArguments(fp16=True or bf16=True)",
    "trl": "TrainingArguments(fp16=True or bf16=True)",
}


def find(code: Code) -> Iterator[Finding]:
    scalers = code.calls(*SCALERS)
    if not scalers:
        return
    known = next((text for name, text in RUNNERS.items() if code.calls(name)), "")
    if not known and trainer_runs(code):
        known = "TrainingArguments(fp16=True or bf16=True)"
    if not known:
        asked = (str(i.value) for i in code.asked("framework") if i.polarity == "require")
        known = next((ASKED[name] for name in asked if name in ASKED), "")
    if known:
        text = f"a gradient scaler of its own beside {known}, which casts and scales by one setting"
        yield finding(SLUG, CATEGORY, scalers[0].module, scalers[0].node, text, key="precision")


_BODY = """
import torch
from accelerate import Accelerator
import lightning

def fit(net, loader, opt):
    {runner}
    scaler = torch.amp.GradScaler(){mark}
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
"""
BAD = (
    Example(_BODY.format(runner="acc = Accelerator(); net, opt = acc.prepare(net, opt)", mark="  # found")),
    Example(_BODY.format(runner="fabric = lightning.Fabric(devices=1)", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(runner="pass", mark="")),
    Example(
        _BODY.format(runner="acc = Accelerator(mixed_precision='fp16')", mark="").replace(
            "torch.amp.GradScaler()", "make()"
        )
    ),
    Example(_BODY.format(runner="net.train()", mark=""), asked={"framework": "pytorch"}),
)
