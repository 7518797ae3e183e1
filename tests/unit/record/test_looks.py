"""The few looks of the light recorder: update over weight, and the terms of a loss by their names."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
import torch

from firstcause.record.folder import find_run
from firstcause.record.journal import Journal, read
from firstcause.record.observe.looks import Looks, terms


def named(sum_of: str) -> dict[str, float]:
    w = torch.ones(3, requires_grad=True)
    recon, kl = (2 * w).pow(2).mean(), (w * 0.5).sum()
    parts = {"a": recon, "b": kl}
    loss = {
        "weighted": lambda: recon + 0.1 * kl,
        "mean": lambda: torch.stack([recon, kl]).mean(),
        "difference": lambda: recon - kl / 2,
        "held": lambda: sum(parts.values()),
        "alone": lambda: recon * 2,
        "product": lambda: recon * kl,
    }[sum_of]()
    if sum_of == "held":
        del recon, kl
    return terms(loss, sys._getframe())


@pytest.mark.parametrize(
    ("sum_of", "found"),
    [
        ("weighted", {"recon": 4.0, "kl": 1.5}),
        ("mean", {"recon": 4.0, "kl": 1.5}),
        ("difference", {"recon": 4.0, "kl": 1.5}),
        ("held", {"parts['a']": 4.0, "parts['b']": 1.5}),
        ("alone", {}),
        ("product", {}),
    ],
)
def test_terms_are_what_a_loss_is_the_sum_of(sum_of: str, found: dict[str, float]) -> None:
    assert named(sum_of) == found


def test_no_name_is_kept_alive_by_a_look() -> None:
    w = torch.ones(3, requires_grad=True)

    def step() -> weakref.ref[torch.Tensor]:
        big = torch.zeros(8)
        one = (w * 2).sum()
        loss = one + (w * 3).sum()
        terms(loss, sys._getframe())
        seen = weakref.ref(big)
        del big
        gc.collect()
        return seen if seen() is None else pytest.fail("the look holds what the program let go of")

    assert step()() is None


def test_updates_are_measured_from_step_to_step(tmp_path: Path) -> None:
    weight = torch.nn.Parameter(torch.full((600, 2), 2.0))
    zero = torch.nn.Parameter(torch.zeros(4))
    odd = torch.nn.Parameter(torch.ones(4, 4).t()[:, ::2])
    optimizer = torch.optim.SGD([weight, zero, odd], lr=0.1)
    path = str(tmp_path / "rank-0-1.journal")
    looks, journal = Looks(), Journal(path)
    for step in range(4):
        for p in (weight, zero, odd):
            p.grad = torch.ones_like(p)
        looks.before(step, optimizer, [weight, zero, odd], journal)
        optimizer.step()
    events = [e for e in read(path).events if e["event"] == "look"]
    assert [e["step"] for e in events] == [1]
    # At step 1 the weight is 1.9 throughout, the other began at zero and is -0.1, the third is no plain tensor.
    assert events[0]["updates"] == pytest.approx([0.1 / 1.9, 1.0, 1.0], rel=1e-4)


def test_looks_wait_where_they_would_cost_too_much(tmp_path: Path) -> None:
    looks = Looks()
    assert looks.due(1)
    looks.spent = 1.0
    assert not looks.due(1)
    looks.began -= 1200.0
    assert looks.due(1)


PROGRAM = """
import torch
{observe}
torch.manual_seed(0)
net = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
{observed}
def fit(steps):
    for step in range(steps):
        x = torch.randn(8, 4)
        error, spread = (net(x) - x).pow(2).mean(), net(x).var()
        loss = error + 0.1 * spread
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
fit(6)
"""


@pytest.mark.parametrize("by", ["command", "two-lines"])
def test_a_run_tells_the_terms_by_the_names_of_the_program(by: str, tmp_path: Path) -> None:
    lines = ("import firstcause", "firstcause.observe(net, optimizer)") if by == "two-lines" else ("", "")
    (tmp_path / "train.py").write_text(PROGRAM.format(observe=lines[0], observed=lines[1]))
    run = [] if by == "two-lines" else ["-m", "firstcause", "run", "-q", sys.executable]
    subprocess.run(
        [sys.executable, *run, "train.py"], cwd=tmp_path, check=True, capture_output=True, timeout=120
    )
    (reading,) = find_run("last", str(tmp_path)).journals().values()
    assert not [e for e in reading.events if e["event"] == "internal-error"]
    looks = [e for e in reading.events if e["event"] == "look"]
    assert looks[0]["step"] == 1
    assert len(looks[0]["updates"]) == 3
    assert set(looks[0]["terms"]) == {"error", "spread"}
    loss = reading.rows[1].values[reading.rows[1].columns.index("loss")]
    told = looks[0]["terms"]
    assert told["error"] + 0.1 * told["spread"] == pytest.approx(loss, rel=1e-5)
