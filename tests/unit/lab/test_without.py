"""Which run without a component counts as free of the symptom, and what each switch makes of a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.lab import beginning
from firstcause.lab.without import COMPONENTS
from firstcause.lab.without.asked import BEGIN, Seen, gone, grown

NAN = Seen("nan", "2 of 4 gradients are not finite", 10)
GROWING = Seen("growth", "memory grows", 60, 100_000.0)


@pytest.mark.parametrize(
    ("before", "after", "is_gone"),
    [
        (NAN, Seen("", "", 60), True),
        (NAN, Seen("", "", 5), False),
        (NAN, Seen("exception", "RuntimeError: without it nothing works", 60), False),
        (NAN, Seen("nan", "1 of 4 gradients are not finite", 12), False),
        (NAN, Seen("", "", 60, why="it did not end within 9 s"), False),
        (NAN, GROWING, True),
        (GROWING, Seen("", "", 60, 0.0), True),
        (GROWING, Seen("growth", "memory grows", 60, 60_000.0), False),
        (GROWING, Seen("growth", "memory grows", 60, 9_000.0), True),
        (GROWING, Seen("", "", 3, 0.0), False),
    ],
)
def test_gone(before: Seen, after: Seen, is_gone: bool) -> None:
    assert gone(before, after) is is_gone


def test_growth_is_a_rise_of_the_whole_tail() -> None:
    steps = range(0, 100, 5)
    rising = [{"step": s, "resident": 300_000_000 + 100_000 * s} for s in steps]
    assert grown(rising) == pytest.approx(100_000, rel=0.01)
    warm = [{"step": s, "resident": 300_000_000 + min(s, 30) * 1_000_000} for s in steps]
    assert grown(warm) == 0.0
    once = [{"step": s, "resident": 300_000_000 + 9_000_000 * (s > 60)} for s in steps]
    assert grown(once) == 0.0
    assert grown(rising[:3]) == 0.0


PROGRAM = """
import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader

calls = []
def inner(x):
    calls.append(1)
    return x.exp()
x = torch.ones(3, requires_grad=True)
checkpoint(inner, x, use_reentrant=False).sum().backward()
with torch.autocast("cpu", dtype=torch.bfloat16):
    dtype = (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
net = torch.compile(torch.nn.Linear(3, 1), backend="inductor")
loader = DataLoader([torch.ones(n) for n in (2, 2, 3)], None, num_workers=1, prefetch_factor=2)
# What makes batches is given by position, behind the number of workers.
summed = DataLoader([torch.ones(4)], None, None, None, None, 1, torch.sum)
print(len(calls), dtype, type(net).__name__, loader.num_workers, [len(b) for b in loader], *map(int, summed))
"""


def run(tmp_path: Path, levels: dict[str, str]) -> tuple[str, set[str]]:
    met = tmp_path / f"met-{len(levels)}"
    met.mkdir()
    added = {
        "FIRSTCAUSE_WITHOUT": json.dumps(levels),
        "FIRSTCAUSE_WITHOUT_MET": str(met),
        "OMP_NUM_THREADS": "1",
    }
    words = [sys.executable, "-c", PROGRAM]
    environment = beginning.environment(BEGIN) | added
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip(), set(os.listdir(met))


def test_components_are_met_as_the_program_has_them_and_are_gone_when_switched_off(tmp_path: Path) -> None:
    said, met = run(tmp_path, {})
    assert said == "2 torch.bfloat16 OptimizedModule 1 [2, 2, 3] 4"
    assert met == set(COMPONENTS) - {"ddp"}
    said, _ = run(tmp_path, dict.fromkeys(COMPONENTS, "off"))
    assert said == "1 torch.float32 Linear 0 [2, 2, 2] 4"
