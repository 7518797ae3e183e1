"""The specialist distributed-training-strategies."""

from firstcause.specialists.distributed_training_strategies import (
    ddp_unused_parameters,
    rank_dependent_collective,
    rank_specific_initial_weights,
    sampler_missing,
    sampler_set_epoch_missing,
    save_on_all_ranks,
    uneven_batches_per_rank,
)
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist(
    "distributed-training-strategies",
    (
        ddp_unused_parameters,
        uneven_batches_per_rank,
        rank_dependent_collective,
        sampler_missing,
        sampler_set_epoch_missing,
        rank_specific_initial_weights,
        save_on_all_ranks,
    ),
)
