"""The order in which patterns are looked at: data and memory access first, who only waited and what is only slow last."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from firstcause.schema import Pattern

# From here on a pattern is a consequence for those who wait, or a matter of speed.
WAITING = 5
# Between what failed and who waited for it stands the report of whoever saw it fail.
_WRAPPED = 4.5
# Whose connection was closed has failed itself; only a timeout is told by those who waited.
_CUT_OFF, _BEFORE_WRAPPED = "nccl-network", 4.4
_LAST = 9.0
# What explains another pattern of the same text, although it is no more critical: the reason is looked at first.
EXPLAINS = {
    "sharded-state-mismatch": ("shape-mismatch", "state-dict-mismatch"),
    "parameters-not-registered": ("no-learning",),
    "sequence-too-long": ("shape-mismatch",),
    "worker-memory-growth": ("host-oom-killed", "memory-growth"),
    "cuda-in-worker": ("dataset-exception", "dataloader-worker-exit"),
    "trainer-no-loss": ("no-learning",),
    "wrong-gradient": ("nan-loss", "no-learning", "gradient-explosion"),
    "loss-scale-minimum": ("nan-gradient", "nan-loss"),
    "fp16-unscale": ("nan-gradient", "nan-loss"),
    "amp-scaler-state": ("nan-gradient", "nan-loss"),
    "resume-gap": ("nondeterminism",),
    "worker-seed": ("nondeterminism",),
    "recompile-limit": ("slow-training",),
    # Nodes that are slow together can reach one another: where a step's time goes is measured first.
    "slow-training": ("nccl-network",),
    "collate-size-mismatch": ("dataset-exception", "shape-mismatch"),
}

# What the words for one pattern say of another as well: beside the first the second is not claimed by words.
SAME_WORDS = {
    "worker-memory-growth": ("memory-growth", "cuda-oom"),
    "host-oom-killed": ("cuda-oom",),
    "kv-cache-memory": ("cuda-oom",),
    "silent-nan-checkpoint": ("nan-loss", "no-learning"),
    "nan-loss": ("no-learning",),
    "nondeterminism": ("no-learning",),
    "gradient-explosion": ("no-learning",),
    "sampling-nan": ("nan-loss",),
    "state-dict-mismatch": ("shape-mismatch", "no-learning", "checkpoint-corrupt"),
    "sharded-state-mismatch": ("shape-mismatch", "state-dict-mismatch"),
    "zero3-partitioned": ("shape-mismatch", "parameters-not-registered"),
    "collate-size-mismatch": ("shape-mismatch",),
    "dataset-exception": ("missing-file", "dataloader-worker-exit"),
    "wrong-gradient": ("gradient-explosion", "no-learning"),
    "resume-gap": ("nondeterminism", "no-learning"),
    "worker-seed": ("nondeterminism",),
    "eval-train-gap": ("overfitting", "no-learning"),
    "garbage-output": ("no-learning",),
    "desync": ("nccl-timeout",),
    "ddp-unused-parameters": ("parameters-not-registered",),
    "version-mismatch": ("nondeterminism",),
    "loss-zero": ("no-learning",),
    "overfitting": ("no-learning",),
    "codebook-collapse": ("no-learning",),
    "loss-imbalance": ("codebook-collapse", "loss-scale-wrong", "gradient-explosion", "loss-zero"),
    "dataloader-timeout": ("hang",),
    "cublas-error": ("cuda-oom", "shape-mismatch", "foreign-process-memory"),
    "second-backward": ("no-grad-fn",),
    "linalg-failure": ("no-learning",),
    "dtype-mismatch": ("checkpoint-corrupt",),
    "compile-graph-break": ("hang",),
    "recompile-limit": ("no-learning",),
    "nccl-timeout": ("hang",),
    "watchdog-stuck": ("nccl-timeout", "hang"),
    "instruction-deviation": ("version-mismatch",),
    "amp-scaler-state": ("scheduler-order", "loss-imbalance"),
    "cuda-in-worker": ("dataloader-worker-exit",),
    "no-kernel-image": ("driver-mismatch",),
    "dataloader-shm": (
        "host-oom-killed",
        "memory-growth",
        "dataloader-worker-exit",
        "checkpoint-write-failed",
    ),
    "weights-only-load": ("version-mismatch",),
    "foreign-process-memory": ("memory-growth",),
    "loss-scale-minimum": ("loss-scale-wrong",),
}


def without_doubles(
    told: Sequence[str], present: Collection[str], weight: Mapping[str, float] | None = None
) -> list[str]:
    """The patterns that words tell of, but for those whose words another one explains better.

    ``weight`` is what the words weigh for each: of two, the first gives way where the second weighs twice as much.
    """
    heavy = weight or {}
    kept = list(told)
    for pattern in (*present, *told):
        if pattern in present or pattern in kept:
            doubles = [p for p in kept if p not in present and p in SAME_WORDS.get(pattern, ())]
            if pattern not in present and any(
                heavy.get(p, 0.0) >= 2 * heavy.get(pattern, 1.0) for p in doubles
            ):
                kept.remove(pattern)
                continue
            kept = [p for p in kept if p not in doubles]
    return kept


def ordered(
    patterns: Sequence[str], known: Mapping[str, Pattern], ranks_first: bool = False
) -> tuple[str, ...]:
    """The patterns by criticality; a wrapper stands behind what it wraps, and before those who only waited.

    ``ranks_first`` puts trouble between ranks before what one of them ran out of.
    """
    failed = any(not known[p].wrapper and known[p].criticality < WAITING for p in patterns)

    def place(pattern: str) -> tuple[float, int]:
        entry = known[pattern]
        if entry.wrapper:
            return (_WRAPPED if failed else _LAST), patterns.index(pattern)
        if pattern == _CUT_OFF and failed:
            return _BEFORE_WRAPPED, patterns.index(pattern)
        if ranks_first and entry.specialist == "distributed-training-strategies":
            return 0.0, patterns.index(pattern)
        return float(entry.criticality), patterns.index(pattern)

    return tuple(sorted(patterns, key=place))


def leading(order: Sequence[str]) -> str:
    """The pattern to start from: the first in order, unless another one explains it."""
    lead = order[0]
    for pattern in order[1:]:
        if lead in EXPLAINS.get(pattern, ()):
            return pattern
    return lead


def only_wrappers(patterns: Collection[str], known: Mapping[str, Pattern]) -> bool:
    """Whether every pattern reports another failure that is not in the text."""
    return bool(patterns) and all(known[p].wrapper for p in patterns)
