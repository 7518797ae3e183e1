"""A module or callback defines a hook that the framework does not call any more.

Why: Lightning 2 removed the hooks that got all outputs: it raises for training_epoch_end and its like, and never calls the rest.
Refuted by: an older version that is pinned or installed, a method that the code calls itself.
Holds for: lightning since 2.0.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "removed-hook"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {"lightning": ">=2", "pytorch-lightning": ">=2", "pytorch_lightning": ">=2"}

MODULES = (
    "lightning.LightningModule",
    "lightning.pytorch.LightningModule",
    "lightning.core.LightningModule",
    "pytorch_lightning.LightningModule",
)
CALLBACKS = ("lightning.Callback", "lightning.callbacks.Callback", "lightning.pytorch.callbacks.Callback")
# Read in the migration guide of 2.0: hooks and what is called instead.
OF_MODULE = {
    "training_epoch_end": "on_train_epoch_end, with the outputs kept by training_step",
    "validation_epoch_end": "on_validation_epoch_end, with the outputs kept by validation_step",
    "test_epoch_end": "on_test_epoch_end, with the outputs kept by test_step",
    "training_step_end": "on_train_batch_end",
    "validation_step_end": "on_validation_batch_end",
    "on_epoch_start": "on_train_epoch_start",
    "on_epoch_end": "on_train_epoch_end",
    "on_batch_start": "on_train_batch_start",
    "on_batch_end": "on_train_batch_end",
}
OF_CALLBACK = {
    "on_epoch_start": "on_train_epoch_start",
    "on_epoch_end": "on_train_epoch_end",
    "on_batch_start": "on_train_batch_start",
    "on_batch_end": "on_train_batch_end",
    "on_pretrain_routine_start": "on_fit_start",
    "on_init_start": "setup",
}


def find(code: Code) -> Iterator[Finding]:
    if not code.imports("lightning") and not code.imports("pytorch_lightning"):
        return
    for bases, hooks in ((MODULES, OF_MODULE), (CALLBACKS, OF_CALLBACK)):
        for cls in code.subclasses_of(*bases):
            assert isinstance(cls.node, ast.ClassDef)
            for method in cls.node.body:
                if not isinstance(method, ast.FunctionDef) or method.name not in hooks:
                    continue
                if method.name not in code.called_names():
                    text = f"Lightning 2 has no hook {method.name}; now: {hooks[method.name]}"
                    yield finding(SLUG, CATEGORY, cls.module, method, text, argument=method.name)


_BODY = """
import {library}

class Net({library}.LightningModule):
    def training_step(self, batch, index):
        return self(batch).mean()

    def {hook}(self{more}):{mark}
        pass
"""
BAD = (
    Example(_BODY.format(library="lightning", hook="training_epoch_end", more=", outputs", mark="  # found")),
    Example(
        _BODY.format(
            library="pytorch_lightning", hook="validation_epoch_end", more=", outputs", mark="  # found"
        )
    ),
)
GOOD = (
    Example(_BODY.format(library="lightning", hook="on_train_epoch_end", more="", mark="")),
    Example("class Mine:\n    def training_epoch_end(self, outputs):\n        pass\n"),
    Example(_BODY.format(library="lightning", hook="epoch_end", more="", mark="")),
)
