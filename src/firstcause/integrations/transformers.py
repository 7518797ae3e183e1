"""A callback of transformers' Trainer (and TRL's) that records its training where the command cannot be changed."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

import firstcause


class FirstcauseCallback(TrainerCallback):
    """Record the training as ``firstcause run`` does: ``Trainer(..., callbacks=[FirstcauseCallback()])``.

    Under ``firstcause run`` it does nothing. The main process alone is recorded.
    """

    folder = ""

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **more: Any) -> None:
        """Begin to observe; ``folder`` is that of the record from then on."""
        if state.is_world_process_zero:
            # All optimizers: the Trainer wraps its own, and the wrapper takes no hook.
            self.folder = firstcause.observe(model)
