"""Which specialist begins and which one follows: the leading pattern's own, unless the text's evidence overrules it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from firstcause.schema import Pattern
from firstcause.triage.precedence import EXPLAINS, leading

DEBUGGING = "debugging-techniques"
MEMORY = "tensor-operations-and-memory"
SPEED = "performance-profiling"
DISTRIBUTED = "distributed-training-strategies"
AMP = "mixed-precision-and-optimization"
AUTOGRAD = "custom-autograd-functions"
CHECKPOINTS = "checkpointing-and-reproducibility"
MODULES = "module-design-patterns"
LOADING = "data-loading"
REVIEW = "dry-debugging"
OUT_OF_SCOPE = "out-of-scope"

# Errors that DistributedDataParallel brings about: absent on one device, they are looked at there first.
_MADE_BY_DDP = frozenset(
    {
        "inplace-autograd",
        "second-backward",
        "unused-in-graph",
        "no-grad-fn",
        "device-mismatch",
        "shape-mismatch",
        "nan-loss",
        "nan-gradient",
        "no-learning",
    }
)
_SIGNALLED = frozenset({"host-oom-killed", "segfault"})


@dataclass(frozen=True)
class Evidence:
    """What overrules or follows, beside the patterns: the text's contexts, the dtypes, devices and exceptions in it."""

    contexts: Collection[str] = ()
    dtypes: Sequence[str] = ()
    devices: Sequence[str] = ()
    raised: bool = False
    training: bool = False
    killed_by_kernel: bool = False


@dataclass
class _Routes:
    found: list[str] = field(default_factory=list)
    why: list[str] = field(default_factory=list)

    def add(self, specialist: str, why: str) -> None:
        if specialist not in self.found:
            self.found.append(specialist)
            self.why.append(f"{specialist}: {why}")


def routes(
    order: Sequence[str], known: Mapping[str, Pattern], seen: Evidence
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The specialists in order, and for each the reason."""
    result = _Routes()
    lead = leading(order)
    first = _overruling(lead, order, seen)
    if first:
        result.add(*first)
    result.add(known[lead].specialist, f"{lead} starts there")
    for follower in _following(lead, order, known, seen):
        result.add(*follower)
    # A third is worth naming where one knob more decides how much memory is needed, or a third failure is told of.
    most = 3 if lead == "cuda-oom" or _apart(order, known) else 2
    return tuple(result.found[:most]), tuple(result.why[:most])


def _overruling(lead: str, order: Sequence[str], seen: Evidence) -> tuple[str, str] | None:
    has = seen.contexts
    if lead in _MADE_BY_DDP and "single-device-is-fine" in has and "distributed" in has:
        return DISTRIBUTED, f"{lead} is absent on a single device"
    spread = len({d for d in seen.devices if d.startswith("cuda:")}) > 1
    if lead == "device-mismatch" and spread and (seen.training or "distributed" in has):
        return DISTRIBUTED, "two cards hold parts of one model in training"
    if lead == "dtype-mismatch" and _half(seen.dtypes) and (seen.training or "half" in has):
        return AMP, "a half-precision type enters during training"
    unexplained = lead in _SIGNALLED and not seen.raised and not seen.killed_by_kernel
    if unexplained and "elastic-child-failed" in order:
        return DISTRIBUTED, "only the launcher reports the death; that rank's own log comes first"
    if lead in _SIGNALLED and "dataloader-worker-exit" in order:
        return LOADING, "it was a worker of the loader that a signal ended"
    if lead == "hang" and "loader" in has and "distributed" not in has:
        return LOADING, "one process waits for its loader"
    if lead == "no-learning" and "parameters-not-registered" in order:
        return MODULES, "parameters that are not registered cannot learn"
    return None


def _following(
    lead: str, order: Sequence[str], known: Mapping[str, Pattern], seen: Evidence
) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    has = seen.contexts
    if lead == "dtype-mismatch" and _half(seen.dtypes):
        found.append((AMP, "one of the types is a half-precision one"))
    if lead == "device-mismatch" and len({d for d in seen.devices if d.startswith("cuda:")}) < 2:
        found.append((MODULES, "a tensor that is no buffer stays behind when the module moves"))
    if lead in ("sampling-nan", "loss-scale-minimum", "amp-scaler-state", "loss-scale-wrong"):
        found.append(
            (AMP, "half precision overflows first")
            if lead == "sampling-nan"
            else (DEBUGGING, "the first bad value decides")
        )
    if lead in ("trainer-no-loss",):
        found.append((DEBUGGING, "what reaches the model has to be seen"))
    if lead in ("nan-loss", "nan-gradient", "sampling-nan", "gradient-explosion") and "half" in has:
        found.append((AMP, "half precision is in use"))
    if lead == "garbage-output" and "distributed" in has and "single-device-is-fine" in has:
        found.append((DISTRIBUTED, "one device answers well"))
    if lead == "eval-train-gap":
        found.append((MODULES, "a layer that behaves differently in both modes is in the model"))
    if lead == "no-learning" and ({"module-code", "gradient-checkpointing"} & set(has)):
        found.append((MODULES, "how the model is put together is in question"))
    if lead == "slow-training" and "loader" in has:
        found.append((LOADING, "the loader's part of a step is in question"))
    if lead == "worker-seed":
        found.append((CHECKPOINTS, "what is seeded decides whether a run repeats"))
    if lead == "dataloader-shm" and "contradicts-the-message" in has:
        found.append((DEBUGGING, "the usual reason is excluded by a test of the user's"))
    if lead == "collate-size-mismatch" and "dataset-exception" in order:
        found.append((DEBUGGING, "the sample with the other shape has to be found"))
    if lead in ("cuda-in-worker",) and "dataloader-worker-exit" in order:
        found.append((DEBUGGING, "the error inside the worker has to be seen"))
    if lead == "hang" and ({"loader", "uneven"} & set(has)) and "distributed" in has:
        found.append((LOADING, "ranks may be given different numbers of batches"))
    if lead in ("zero3-partitioned", "state-dict-mismatch", "sharded-state-mismatch") and (
        {"zero3-partitioned", "sharded-state-mismatch"} & set(order)
    ):
        found.append((DISTRIBUTED, "the parameters are spread over ranks"))
    if lead in ("cuda-oom", "memory-growth", "host-oom-killed") and "distributed" in has:
        found.append((DISTRIBUTED, "sharding and offload decide what one rank holds"))
        if "half" in has and lead == "cuda-oom":
            found.append((AMP, "precision decides how much that is"))
    if lead == "worker-memory-growth" and "host-oom-killed" in order:
        found.append((MEMORY, "the host's memory ran out"))
    if lead == "slow-training" and "nccl-network" in order:
        found.append((DISTRIBUTED, "what the nodes speak over is in question"))
    for pattern in order:
        reports = known[pattern].wrapper and pattern != "elastic-child-failed"
        if (
            pattern != lead
            and pattern not in EXPLAINS.get(lead, ())
            and not reports
            and known[pattern].specialist != REVIEW
        ):
            found.append((known[pattern].specialist, f"{pattern} is in the text too"))
    return found


def _apart(order: Sequence[str], known: Mapping[str, Pattern]) -> bool:
    """Whether a text tells of three failures, none a wrapper or explained by another, for three specialists."""
    lead = leading(order)
    own = [p for p in order if not known[p].wrapper and p not in EXPLAINS.get(lead, ())]
    return len({known[p].specialist for p in own}) > 2


def _half(dtypes: Sequence[str]) -> bool:
    return any(
        name.lower().replace("c10::", "").replace("torch.", "")
        in ("half", "bfloat16", "float16", "fp16", "bf16")
        for name in dtypes
    )
