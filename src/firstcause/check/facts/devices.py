"""On how many devices a program runs that does not say it: on as many as it is started on, or on one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact

# What starts a process a device by itself, or under a launcher.
PER_PROCESS = frozenset({"trainer", "trl", "accelerate", "lightning", "deepspeed"})


def on_every_device(facts: Sequence[Fact]) -> bool:
    """Whether the program's batch is one process's, of which each device has one."""
    runs_on = {f.value for f in facts if f.key == "framework"}
    return bool(runs_on & PER_PROCESS) or any(f.key == "distributed" for f in facts)


def device_facts(code: Code, known: Sequence[Fact]) -> Iterator[Fact]:
    """A fact of num_gpus that only confirms: several where the program takes as many as there are, one where it takes no more."""
    if any(f.key == "num_gpus" for f in known):
        return
    for asked in code.asked("num_gpus"):
        many = next((f for f in known if f.key in ("distributed", "framework")), None)
        is_one = asked.value == 1 and not any(f.key == "distributed" for f in known)
        if many is not None and isinstance(asked.value, int) and (is_one or on_every_device(known)):
            yield Fact(
                "num_gpus", asked.value, many.site, "as many as it is started on", sure=False, confirms=True
            )
