"""A candidate is run in a fork, within limits: whatever it does, the next one begins from the same state."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from dataclasses import asdict
from typing import Any

import torch

from firstcause.minimize.failure import Failure, outcome
from firstcause.minimize.program import Program
from firstcause.sandbox import fork, refusal

# Of the processor; and on the clock, for one that waits.
CPU_SECONDS = 10
SECONDS = 30.0
MEMORY = 4 << 30
# What is random in a candidate is drawn anew with each of these: one that fails only by luck is no reproduction.
SEEDS = (0, 1, 2)


class Trials:
    """Candidates tried for one failure, until ``deadline`` (of ``time.monotonic``)."""

    def __init__(self, failure: Failure, deadline: float) -> None:
        self.failure, self.deadline = failure, deadline
        self.tried = 0

    def over(self) -> bool:
        return time.monotonic() > self.deadline

    def fails(self, program: Program) -> bool:
        """Whether ``program`` fails the same way, with every seed where anything in it is random."""
        if self.over() or not program.calls:
            return False
        self.tried += 1
        return all(found == asdict(self.failure) for found in self._outcomes(program))

    def _outcomes(self, program: Program) -> list[Any]:
        reader, writer = os.pipe()
        child = fork.again()
        if child == 0:
            _limit()
            found = []
            for seed in SEEDS if is_random(program) else SEEDS[:1]:
                torch.manual_seed(seed)
                failed = outcome(program)
                found.append(asdict(failed) if failed is not None else None)
            os.write(writer, json.dumps(found).encode())
            os._exit(0)
        os.close(writer)
        try:
            ready, _, _ = select.select([reader], [], [], SECONDS)
            text = os.read(reader, 1 << 16) if ready else b""
        finally:
            os.close(reader)
            with refusal.own():
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        return list(json.loads(text)) if text else [None]


def is_random(program: Program) -> bool:
    drawn = any((leaf.made or ("",))[0].startswith("rand") for leaf in program.leaves.values())
    return drawn or any(
        "rand" in call.name or "dropout" in call.name or "multinomial" in call.name for call in program.calls
    )


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()  # noqa: SIM115
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
