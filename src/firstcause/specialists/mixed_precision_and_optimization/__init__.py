"""The specialist mixed-precision-and-optimization."""

from firstcause.specialists.mixed_precision_and_optimization import (
    accumulation_not_divided,
    bf16_rounding,
    clip_before_unscale,
    fp16_overflow,
    learning_rate_too_high,
    scaler_missing,
    scaler_update_missing,
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
    ),
)
