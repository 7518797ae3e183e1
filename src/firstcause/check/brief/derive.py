"""What follows from the wishes by arithmetic, and where they contradict one another."""

from __future__ import annotations

import math
from collections.abc import Sequence

from firstcause.check.brief.numbers import whole
from firstcause.schema.instruction import Instruction


def derived(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The effective batch, or the accumulation, where the two others are given: effective = per device x accumulation x GPUs."""
    batch, accumulation = _given(instructions, "batch_size"), _given(instructions, "gradient_accumulation")
    effective, gpus = _given(instructions, "effective_batch_size"), _given(instructions, "num_gpus")
    world = max(1, gpus.value) if gpus is not None else 1
    if batch is not None and accumulation is not None and effective is None:
        if accumulation.value == 1 and batch.scope != "per_device":
            # "32, no accumulation" does not say whether a device has 32, or all of them.
            return []
        return [_derived("effective_batch_size", batch.value * accumulation.value * world, batch)]
    if batch is not None and effective is not None and accumulation is None and batch.relation == "eq":
        steps = effective.value / (batch.value * world)
        if steps >= 1 and steps == int(steps):
            return [_derived("gradient_accumulation", int(steps), effective)]
    return []


def contradictions(instructions: Sequence[Instruction]) -> list[str]:
    """One sentence for each place where the wishes cannot all hold."""
    found = []
    given = {
        key: _given(instructions, key)
        for key in ("batch_size", "gradient_accumulation", "effective_batch_size", "num_gpus")
    }
    batch, accumulation, effective, gpus = given.values()
    if batch is not None and accumulation is not None and effective is not None and batch.relation == "eq":
        world = max(1, gpus.value) if gpus is not None else 1
        product = batch.value * accumulation.value * world
        if not math.isclose(product, effective.value) and not (
            batch.scope != "per_device" and batch.value == effective.value
        ):
            found.append(
                f"an effective batch of {effective.value} is asked for, but {batch.value} x {accumulation.value} x {world} "
                f"(batch size, accumulation, GPUs) is {whole(product)}"
            )
    for key in sorted({i.key for i in instructions}):
        low = [i.value for i in instructions if _active(i, key) and i.relation == "min"]
        high = [i.value for i in instructions if _active(i, key) and i.relation in ("max", "eq")]
        if low and high and max(low) > min(high):
            found.append(f"{key} is to be at least {max(low)} and at most {min(high)}")
        wanted = {str(i.value) for i in instructions if _active(i, key)}
        unwanted = {
            str(i.value)
            for i in instructions
            if i.key == key and i.polarity == "forbid" and i.status == "active"
        }
        found += [f"{key} {value} is both asked for and excluded" for value in sorted(wanted & unwanted)]
    return found


def _active(instruction: Instruction, key: str) -> bool:
    return instruction.key == key and instruction.polarity == "require" and instruction.status == "active"


def _given(instructions: Sequence[Instruction], key: str) -> Instruction | None:
    """The one number that is asked for under a key; None where there are several or none."""
    found = [
        i
        for i in instructions
        if _active(i, key) and i.relation in ("eq", "max") and isinstance(i.value, int) and i.scope != "eval"
    ]
    return found[0] if len({i.value for i in found}) == 1 else None


def _derived(key: str, value: float, source: Instruction) -> Instruction:
    return Instruction(
        key, whole(value), source.sentence, origin=source.origin, line=source.line, derived=True
    )
