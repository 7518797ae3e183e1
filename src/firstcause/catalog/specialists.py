"""The nine specialists that a cause may be settled by, each with what it looks at, and where a text may lead besides."""

from __future__ import annotations

SPECIALISTS = {
    "debugging-techniques": "errors, non-finite values, wrong results, training that does not learn",
    "tensor-operations-and-memory": "shapes, axes, masks, and memory that grows or runs out",
    "performance-profiling": "where the time of a step goes",
    "distributed-training-strategies": "several processes, ranks and devices",
    "mixed-precision-and-optimization": "half precision, loss scaling, optimizers and schedules",
    "custom-autograd-functions": "backward passes, written by hand or at the edge of their domain",
    "checkpointing-and-reproducibility": "saving, resuming and repeating a run",
    "module-design-patterns": "how modules hold, share and use their parameters",
    "data-loading": "what the loader gives, and how",
}

# Compares code with what was asked for; it settles no cause of a failing run.
DRY_DEBUGGING = "dry-debugging"
ROUTES = {
    **SPECIALISTS,
    DRY_DEBUGGING: "code that differs from what was asked for, or is more than the task needs",
}
