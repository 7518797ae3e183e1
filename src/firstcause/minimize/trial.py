"""A candidate is run in a fork, within limits: whatever it does, the next one begins from the same state."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch

from firstcause.minimize.failure import Failure, outcome
from firstcause.minimize.program import Program, draws
from firstcause.minimize.regions import every_call
from firstcause.sandbox import fork, refusal

# Of the processor; and on the clock, for one that waits.
CPU_SECONDS = 20
SECONDS = 30.0
MEMORY = 4 << 30
# What is random in a candidate is drawn anew with each of these: one that fails only by luck is no reproduction.
SEEDS = (0, 1, 2)
RATED = 10


class Trials:
    """Candidates tried for one failure, until ``deadline`` (of ``time.monotonic``)."""

    def __init__(self, failure: Failure, deadline: float) -> None:
        self.failure, self.deadline = failure, deadline
        self.tried = 0

    def over(self) -> bool:
        return time.monotonic() > self.deadline

    def first(self, programs: Sequence[Program]) -> int | None:
        """The place of the first one that fails the same way, with every seed where anything in it is random."""
        at = 0
        while at < len(programs) and not self.over():
            found = self._outcomes(programs[at:], SEEDS)
            for outcomes in found:
                self.tried += 1
                if all(one == asdict(self.failure) for one in outcomes):
                    return at
                at += 1
            # One that ends its process or takes too long has said nothing; those behind it are tried anew.
            at += 1
        return None

    def fails(self, program: Program) -> bool:
        """Whether ``program`` fails the same way, with every seed where anything in it is random."""
        return self.first([program]) is not None

    def rate(self, program: Program) -> int:
        """With how many of 10 seeds ``program`` fails the same way; one that draws nothing is run once."""
        seeds = tuple(range(RATED)) if is_random(program) else (0,)
        (outcomes,) = self._outcomes([program], seeds) or [[]]
        alike = [one for one in outcomes if one == asdict(self.failure)]
        return len(alike) * RATED // len(seeds)

    def _outcomes(self, programs: Sequence[Program], seeds: tuple[int, ...]) -> list[list[Any]]:
        """How each one ended with each seed, up to the first that fails the same way, ends its process or takes too long."""
        reader, writer = os.pipe()
        child = fork.again()
        if child == 0:
            _limit()
            for program in programs:
                found = self._tried(program, seeds)
                os.write(writer, json.dumps(found).encode() + b"\n")
                if all(one == asdict(self.failure) for one in found):
                    break
            os._exit(0)
        os.close(writer)
        text = b""
        try:
            while select.select([reader], [], [], SECONDS)[0]:
                part = os.read(reader, 1 << 16)
                if not part:
                    break
                text += part
        finally:
            os.close(reader)
            with refusal.own():
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        return [json.loads(line) for line in text.split(b"\n")[:-1]]

    def _tried(self, program: Program, seeds: tuple[int, ...]) -> list[Any]:
        invariant = self.failure.what if self.failure.kind == "broken" else ""
        found: list[Any] = []
        for seed in seeds if is_random(program) else seeds[:1]:
            torch.manual_seed(seed)
            failed = outcome(program, invariant) if program.calls else None
            found.append(asdict(failed) if failed is not None else None)
            if found[-1] != asdict(self.failure) and len(seeds) < RATED:
                break
        return found


def is_random(program: Program) -> bool:
    drawn = any((leaf.made or ("",))[0].startswith("rand") for leaf in program.leaves.values())
    return drawn or any(draws(call.name) for call in every_call(program))


def _limit() -> None:
    # OpenMP of GNU hangs in a forked child.
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()  # noqa: SIM115
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
