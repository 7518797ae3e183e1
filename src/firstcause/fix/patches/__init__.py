"""One file a cause: where the line to fix is, and the patch that the data flow supports, or none."""

from __future__ import annotations

from types import ModuleType

from firstcause.fix.patches import (
    division_by_zero,
    embedding_index_out_of_range,
    flatten_linear_mismatch,
    log_of_zero,
    nan_in_data,
    residual_shape_mismatch,
    sqrt_backward_at_zero,
    target_out_of_range,
)

PATCHES: dict[str, ModuleType] = {
    module.CAUSE: module
    for module in (
        division_by_zero,
        embedding_index_out_of_range,
        flatten_linear_mismatch,
        log_of_zero,
        nan_in_data,
        residual_shape_mismatch,
        sqrt_backward_at_zero,
        target_out_of_range,
    )
}
