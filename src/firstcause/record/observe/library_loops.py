"""Libraries whose own training loop is marked like the user's, and those of which only some calls are followed."""

from __future__ import annotations

import os

# Loops that hold the optimizer's step, and by which of their calls the step is reached where its name is another.
LOOPS: dict[str, frozenset[str]] = {
    "transformers.trainer": frozenset(),
    "lightning.pytorch.loops.training_epoch_loop": frozenset({"advance"}),
    "pytorch_lightning.loops.training_epoch_loop": frozenset({"advance"}),
}
# backward and zero_grad are called here for the program: no body of theirs is a unit, since their arguments are
# closures, which another process cannot be given.
CALLS = frozenset(
    {
        "accelerate.accelerator",
        "accelerate.optimizer",
        "lightning.pytorch.core.module",
        "pytorch_lightning.core.module",
    }
)
MODULES = CALLS | LOOPS.keys()
# Packages whose objects count steps and batches, so that a replay must put their attributes back.
COUNTING = ("lightning.pytorch.loops.", "pytorch_lightning.loops.")
# What wraps an optimizer and clears gradients only at some of the calls; the real call lies in the library's own file.
WRAPPERS = ("accelerate.", "lightning.", "pytorch_lightning.")


def module_of(path: str) -> str | None:
    """The library module that a file is, or None."""
    return next((m for m in MODULES if path.endswith(os.path.join("", *m.split(".")) + ".py")), None)
