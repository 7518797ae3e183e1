"""The specialist performance-profiling."""

from firstcause.specialists.performance_profiling import (
    data_bound_getitem,
    launch_bound,
    python_loop_over_elements,
    rebuilt_every_step,
    recompiles_every_step,
    sync_every_step,
)
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist(
    "performance-profiling",
    (
        recompiles_every_step,
        data_bound_getitem,
        rebuilt_every_step,
        python_loop_over_elements,
        launch_bound,
        sync_every_step,
    ),
)
