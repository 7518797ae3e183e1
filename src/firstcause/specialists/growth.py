"""What an audit shows of memory that grows from step to step, and whether the growth stops without its holder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

from firstcause.lab.counterfactual import Arm, Ran
from firstcause.lab.rising import climbs
from firstcause.schema import Evidence, Hypothesis, Site
from firstcause.source.feeds import feeds
from firstcause.specialists import audits, out_of_memory
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed, inconclusive

# What an audit for memory alone is made with.
WATCHED = ("memory_growth", "hooks_kept", "graphs_at_evaluation")
RELEASED = Arm("what is held let go of", "audit", {"watch": ["memory_growth"], "released": True})
MIB = float(1 << 20)
# Below this over half of the run nobody runs out of memory: a log of losses is meant to be kept.
LEAST_BYTES = 1 * MIB
LEAST_LOOKS = 8
# What a process that was not looked into must have grown by, to be looked into for its memory first.
LEAST_RECORDED = 8 * MIB
# So many times what must be seen to grow is waited for: samples fall unevenly, and the first of them come late.
AMPLE, MOST_STEPS = 8.0, 1000
# What may be left of the growth without the holder: samples fall unevenly between epochs.
LEFT = 0.1
# What is said to grow, the column that counts it, and the column that must stop.
KINDS = {
    "graph": ("autograd nodes", "nodes", "nodes"),
    "tensors": ("tensors", "tensors", "bytes"),
    "host": ("resident", "resident", "resident"),
}
UNITS = {"nodes": "autograd nodes", "bytes": "bytes of tensors", "resident": "bytes of the process"}
# The losses of two arms that compute the same, but for the order of sums in another number of threads.
SAME = 1e-5


class Growing(Silent):
    """The form of a cause that is also asked where memory was used up, since then the run ended with an exception."""

    def _mine(self, examination: Examination) -> Facts:
        if examination.lab is not None and out_of_memory.refused(examination.symptom) is not None:
            return self.mine(audits.audited(examination.lab))
        return super()._mine(examination)


def form(cause: str, mine: Callable[[Ran], Facts]) -> Growing:
    """A cause that is one kind of growth."""
    return Growing(cause, mine, told, settle, facts, "an audit of the training in which memory grows")


def growth(found: Ran) -> Facts:
    """The growth that the audit measured, where it is large enough to matter; else empty."""
    seen: Facts = found.facts.get("growth") or {}
    large = bool(seen) and bytes_grown(seen["samples"]) >= LEAST_BYTES
    return seen if large or (seen and is_chain(seen)) else {}


def is_recorded(examination: Examination) -> bool:
    """Whether the record shows memory that rose up to the end of the run."""
    held = out_of_memory.before(examination)
    sizes = [size for _, size in held]
    if len(sizes) < 8:
        return False
    # Beside libraries of gigabytes a pile is small for a long time: whether it goes on counts, not its share.
    tail = sizes[len(sizes) // 2 :]
    return tail[-1] - tail[0] >= LEAST_RECORDED and climbs(tail)


def steps_to_show(examination: Examination) -> int:
    """How many steps of the training must be watched for the growth that the record shows to be seen in it."""
    held = out_of_memory.before(examination)
    (first, then), (last, now) = held[len(held) // 2], held[-1]
    rate = (now - then) / max(1, last - first)
    return min(MOST_STEPS, round(AMPLE * 2 * LEAST_BYTES / rate)) if rate > 0 else 0


def is_state(seen: Facts) -> bool:
    """Whether what grows is one value that each step makes from the one before: a running total of losses is a number."""
    return bool(seen["single"]) and math.prod(seen["shape"]) > 1


def is_chain(seen: Facts) -> bool:
    """Whether that value's graph gets longer with every look: a log is meant to be kept, the way to its first step is not.

    Backward has freed most of what it held, so that its bytes are few, and how many the process shows is chance.
    """
    nodes = [sample["nodes"] for sample in seen["samples"]]
    longer = all(a < b for a, b in itertools.pairwise(nodes))
    return seen["kind"] == "graph" and is_state(seen) and longer and len(nodes) >= LEAST_LOOKS


def belongs_elsewhere(seen: Facts, found: Ran) -> bool:
    """Whether a kept exception, a pile of hooks or an evaluation with gradients is what holds it."""
    at_evaluation = seen["kind"] == "graph" and seen["at_evaluation"] and found.facts.get("graphs")
    return bool(seen["exception"] or seen["hooks"] or at_evaluation)


def bytes_grown(samples: list[Facts]) -> float:
    """By how many bytes the process or its tensors grew over the second half of the samples."""
    if not samples:
        return 0.0
    half, last = samples[len(samples) // 2], samples[-1]
    return float(max(last[k] - half[k] for k in ("bytes", "resident")))


def told(seen: Facts) -> str:
    """What grows, by how much, and who holds it."""
    half, last = seen["samples"][len(seen["samples"]) // 2], seen["samples"][-1]
    steps = last["step"] - half["step"]
    what, key, _ = KINDS[seen["kind"]]
    risen = f"{what} rose from {half[key]} to {last[key]} and " if key != "resident" else "resident "
    return (
        f"from step {half['step']} to {last['step']} {risen}memory {'rose ' if key == 'resident' else ''}by "
        f"{bytes_grown(seen['samples']) / MIB:.1f} MiB ({bytes_grown(seen['samples']) / MIB / steps:.2f} MiB a step); "
        f"`{seen['expression']}` holds them"
    )


def statement(examination: Examination, seen: Facts) -> Site | None:
    """The statement that feeds the holder: as it was seen, else the only one in the source."""
    if seen["site"] is not None:
        return examination.site(seen["site"])
    module = examination.project.module(seen["file"]) if examination.project is not None else None
    found = feeds(module, seen["name"]) if module is not None else []
    return module.site(found[0]) if module is not None and len(found) == 1 else None


def settle(cause: str, examination: Examination, seen: Facts) -> Hypothesis:
    """Confirmed where the growth ends once the holder is emptied and the training computes the same without it."""
    if examination.lab is None:
        return inconclusive(cause, "the same steps with what is held let go of: diagnose with --yes")
    horizon = examination.lab.horizon(audits.STEPS)
    found = audits.audited(examination.lab)
    ran = examination.lab.from_start([RELEASED], horizon)[RELEASED.name]
    then: Facts = ran.facts.get("growth") or {}
    after: list[Facts] = then.get("after") or []
    if len(after) < 4:
        return inconclusive(
            cause, f"{told(seen)}; too few steps followed to see whether it ends without them"
        )
    if not same(found, ran):
        return inconclusive(cause, f"{told(seen)}; without them the training computes something else")
    _, _, key = KINDS[seen["kind"]]
    before, left = _rate(seen["samples"], key), _rate(after, key)
    unit = UNITS[key]
    text = (
        f"{told(seen)}; with what it holds let go of from step {then['released_at']} on, they grow by {left:.1f} {unit} a "
        f"step instead of {before:.1f}, and the losses are the same"
    )
    values = {"before": before, "after": left, "unit": unit, "bytes": bytes_grown(seen["samples"])}
    site = statement(examination, seen)
    if left > LEFT * before:
        return inconclusive(cause, f"{text}: something else grows")
    return confirmed(cause, site, Evidence("counterfactual", True, text, values, site))


def facts(examination: Examination, seen: Facts) -> Facts:
    """What a fix needs: the statement, the holder's name, and what kind it is."""
    keys = ("name", "expression", "container", "function", "kind", "file", "cached", "single")
    return {k: seen[k] for k in keys} | {"site": examination.place(seen["site"])}


def _rate(samples: list[Facts], key: str) -> float:
    tail = samples[len(samples) // 2 :]
    steps = max(1, tail[-1]["step"] - tail[0]["step"])
    return float(tail[-1][key] - tail[0][key]) / float(steps)


def same(one: Ran, other: Ran) -> bool:
    """Whether two arms computed the same losses and ended alike, or only the first one with an exception."""
    pairs = list(zip(one.losses, other.losses, strict=False))
    return (
        other.ended in (one.ended, "program", "steps")
        and (one.ended == other.ended or one.ended == "exception")
        and bool(pairs)
        and all(math.isclose(a, b, rel_tol=SAME, abs_tol=SAME) for a, b in pairs)
    )
