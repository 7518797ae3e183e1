"""A callback of Lightning's Trainer that records its training where the command cannot be changed."""

from __future__ import annotations

from typing import Any

from lightning.pytorch import Callback

import firstcause


class FirstcauseCallback(Callback):
    """Record the training as ``firstcause run`` does: ``Trainer(callbacks=[FirstcauseCallback()])``.

    Under ``firstcause run`` it does nothing. The main process alone is recorded.
    """

    folder = ""

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Begin to observe; ``folder`` is that of the record from then on."""
        if trainer.is_global_zero:
            # All optimizers: some wrap others, and the wrapper takes no hook.
            self.folder = firstcause.observe(pl_module)
