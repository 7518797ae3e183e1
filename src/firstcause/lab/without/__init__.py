"""A training run with one of its components switched off, before its first line; the files stay as they are.

Each component is a module here with ``install(level, met)``: at an empty level it only says by ``met`` that the program
uses it, at any other it is replaced by the plainest thing that computes the same.
"""

from __future__ import annotations

# By component: what it is called, and the levels of it, the plainest first.
COMPONENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "checkpointing": ("activation checkpointing", ("off",)),
    "ddp": ("DistributedDataParallel", ("off",)),
    "autocast": ("autocast and gradient scaling", ("off",)),
    "compilation": ("torch.compile", ("off", "eager", "aot_eager")),
    "lengths": ("batches of varying sizes", ("off",)),
    "workers": ("loader workers", ("off",)),
}
WITHOUT, MET = "FIRSTCAUSE_WITHOUT", "FIRSTCAUSE_WITHOUT_MET"
