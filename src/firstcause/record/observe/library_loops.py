"""Libraries whose own training loop is marked like the user's: the loop that holds the optimizer's step."""

from __future__ import annotations

import os

MODULES = frozenset(
    {
        "transformers.trainer",
        "lightning.pytorch.loops.training_epoch_loop",
        "pytorch_lightning.loops.training_epoch_loop",
        "accelerate.accelerator",
    }
)
FILES = tuple(os.path.join("", *m.split(".")) + ".py" for m in sorted(MODULES))
