"""The specialist debugging-techniques."""

from firstcause.specialists.debugging_techniques import (
    division_by_zero,
    embedding_index_out_of_range,
    log_of_zero,
    residual_shape_mismatch,
    target_out_of_range,
)
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist(
    "debugging-techniques",
    (
        log_of_zero,
        division_by_zero,
        residual_shape_mismatch,
        embedding_index_out_of_range,
        target_out_of_range,
    ),
)
