"""The specialist checkpointing-and-reproducibility."""

from firstcause.specialists.checkpointing_and_reproducibility import (
    checkpoint_unsafe_or_unreadable,
    ema_state_not_restored,
    module_prefix_strict_false,
    optimizer_state_not_restored,
    rng_state_not_restored,
    scheduler_state_not_restored,
    seed_incomplete,
    step_counter_not_restored,
)
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist(
    "checkpointing-and-reproducibility",
    (
        checkpoint_unsafe_or_unreadable,
        module_prefix_strict_false,
        optimizer_state_not_restored,
        scheduler_state_not_restored,
        step_counter_not_restored,
        rng_state_not_restored,
        ema_state_not_restored,
        seed_incomplete,
    ),
)
