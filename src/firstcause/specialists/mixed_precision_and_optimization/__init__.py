"""The specialist mixed-precision-and-optimization."""

from firstcause.specialists.mixed_precision_and_optimization import (
    accumulation_not_divided,
    bf16_rounding,
    clip_before_unscale,
    fp16_overflow,
    learning_rate_too_high,
    params_missing_from_optimizer,
    scaler_missing,
    scaler_update_missing,
    scheduler_before_optimizer,
    scheduler_per_batch,
)
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist(
    "mixed-precision-and-optimization",
    (
        fp16_overflow,
        bf16_rounding,
        learning_rate_too_high,
        accumulation_not_divided,
        clip_before_unscale,
        scaler_missing,
        scaler_update_missing,
        params_missing_from_optimizer,
        scheduler_per_batch,
        scheduler_before_optimizer,
    ),
)
