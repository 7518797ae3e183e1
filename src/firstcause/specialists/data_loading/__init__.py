"""The specialist data-loading."""

from firstcause.specialists.data_loading import (
    cuda_in_forked_worker,
    duplicated_worker_seed,
    file_handle_shared_by_forked_workers,
    inplace_data_mutation,
    label_mismatch,
    nan_in_data,
    not_shuffled,
    outlier_in_data,
    ragged_samples_in_default_collate,
    sample_shorter_than_crop,
    target_leakage,
    unpicklable_object_in_dataset,
    worker_killed,
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
        label_mismatch,
        cuda_in_forked_worker,
        unpicklable_object_in_dataset,
        file_handle_shared_by_forked_workers,
        worker_killed,
        sample_shorter_than_crop,
        ragged_samples_in_default_collate,
    ),
)
