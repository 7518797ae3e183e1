"""The specialist debugging-techniques."""

from firstcause.specialists.debugging_techniques import (
    all_targets_ignored,
    device_mismatch,
    division_by_zero,
    dtype_double_vs_float,
    dtype_wrong_for_op,
    embedding_index_out_of_range,
    exp_overflow,
    exploding_gradient,
    grad_mode_left_disabled,
    log_of_zero,
    residual_shape_mismatch,
    silent_broadcast,
    squeeze_drops_batch_dimension,
    std_of_single_element,
    target_out_of_range,
)
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist(
    "debugging-techniques",
    (
        exp_overflow,
        all_targets_ignored,
        std_of_single_element,
        log_of_zero,
        division_by_zero,
        residual_shape_mismatch,
        embedding_index_out_of_range,
        target_out_of_range,
        exploding_gradient,
        grad_mode_left_disabled,
        squeeze_drops_batch_dimension,
        silent_broadcast,
        device_mismatch,
        dtype_double_vs_float,
        dtype_wrong_for_op,
    ),
)
