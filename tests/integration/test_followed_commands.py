"""resume-check and determinism on real processes: what a program forgets is named, a complete one is equal bit for bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firstcause.cli.main import main

PROGRAM = """
import os
import torch
from torch import nn

FORGET = {forget!r}
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.StepLR(opt, 2, 0.5)
start = 0
if os.path.exists("last.pt"):
    state = torch.load("last.pt")
    net.load_state_dict(state["net"])
    start = state["step"]
    if "opt" not in FORGET:
        opt.load_state_dict(state["opt"])
    if "sched" not in FORGET:
        sched.load_state_dict(state["sched"])
    if "rng" not in FORGET:
        torch.set_rng_state(state["rng"])
for step in range(start, 8):
    x = torch.randn(8, 4)
    loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step == 3:
        state = dict(net=net.state_dict(), opt=opt.state_dict(), sched=sched.state_dict())
        torch.save(dict(**state, rng=torch.get_rng_state(), step=4), "last.pt")
"""
UNSEEDED = """
import numpy
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    noise = torch.from_numpy(numpy.random.normal(size=(4, 3)).astype("float32"))
    loss = net(noise).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def asked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, verb: str, program: str
) -> tuple[int, dict[str, Any]]:
    work = folder / "work"
    work.mkdir()
    (work / "train.py").write_text(program)
    monkeypatch.chdir(work)
    code = main([verb, "--json", str(folder / "result.json"), "python", "train.py"])
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return code, result


@pytest.mark.slow
@pytest.mark.parametrize(
    ("forget", "causes"),
    [
        ((), []),
        (("opt",), ["optimizer-state-not-restored"]),
        (("sched",), ["scheduler-state-not-restored"]),
        (("rng",), ["rng-state-not-restored"]),
        (("opt", "sched"), ["optimizer-state-not-restored", "scheduler-state-not-restored"]),
    ],
)
def test_what_a_resume_forgets_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forget: tuple[str, ...], causes: list[str]
) -> None:
    code, result = asked(tmp_path, monkeypatch, "resume-check", PROGRAM.format(forget=forget))
    assert (result["why"], result["control"], result["causes"]) == ("", True, causes)
    assert code == (1 if forget else 0)


@pytest.mark.slow
def test_the_source_of_chance_that_parts_two_runs_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, result = asked(tmp_path, monkeypatch, "determinism", UNSEEDED)
    assert (code, result["step"], result["sources"]) == (1, 0, ["numpy"])


@pytest.mark.slow
def test_a_seeded_program_is_equal_bit_for_bit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, result = asked(
        tmp_path, monkeypatch, "determinism", UNSEEDED.replace("(0)", "(0)\nnumpy.random.seed(0)")
    )
    assert (code, result["step"], result["steps"]) == (0, None, 3)
