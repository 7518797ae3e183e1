"""The specialist data-loading."""

from firstcause.specialists.data_loading import (
    duplicated_worker_seed,
    inplace_data_mutation,
    nan_in_data,
    not_shuffled,
    outlier_in_data,
    target_leakage,
)
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist(
    "data-loading",
    (
        nan_in_data,
        outlier_in_data,
        target_leakage,
        duplicated_worker_seed,
        inplace_data_mutation,
        not_shuffled,
    ),
)
