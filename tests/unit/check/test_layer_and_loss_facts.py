"""What layers, losses, parameter groups and wrappers say of the settings that were asked for."""

from __future__ import annotations

import pytest

from firstcause.check.code import Code
from firstcause.check.facts import facts
from firstcause.schema import Instruction
from firstcause.source.project import Project

LOOP = """
import torch
from torch import nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 96, 2, dropout=0.3)
        self.head = nn.Linear(96, 4)

net = Net()
rest = [p for p in net.parameters() if p.ndim < 2]
opt = torch.optim.SGD({given}, lr=0.1)
for i, (x, y) in enumerate(loader):
    last = (i + 1) % 4 == 0
    {loss}
    loss.backward()
    if last:
        opt.step()
        opt.zero_grad()
"""
GROUPS = '[{"params": net.parameters(), "weight_decay": 1e-4}, {"params": rest, "weight_decay": 0.0}]'


def read(folder, source, **asked):
    (folder / "train.py").write_text(source)
    wanted = tuple(Instruction(k, v, "") for k, v in asked.items())
    return facts(Code(Project(str(folder), ["train.py"]), instructions=wanted))


def found(known, key):
    return {(f.value, f.confirms) for f in known if f.key == key}


def test_what_a_name_holds_of_the_steps_test_is_the_accumulation(tmp_path):
    known = read(tmp_path, LOOP.format(given="net.parameters()", loss="loss = F.mse_loss(net(x), y)"))
    assert found(known, "gradient_accumulation") == {(4, False)}


def test_widths_and_rates_of_layers_only_confirm(tmp_path):
    known = read(tmp_path, LOOP.format(given="net.parameters()", loss="loss = F.mse_loss(net(x), y)"))
    assert found(known, "hidden_size") == {(96, True), (4, True)}
    assert found(known, "num_layers") == {(2, True)}
    assert found(known, "dropout") == {(0.3, True)}


def test_a_group_of_parameters_says_its_decay(tmp_path):
    known = read(tmp_path, LOOP.format(given=GROUPS, loss="loss = F.mse_loss(net(x), y)"))
    assert found(known, "weight_decay") == {(1e-4, False)}


@pytest.mark.parametrize(
    ("asked", "loss", "confirms"),
    [
        ("mse", "loss = F.l1_loss(net(x), y)", False),
        ("focal", "loss = F.cross_entropy(net(x), y)", True),
        ("mse", "with torch.no_grad():\n        loss = F.l1_loss(net(x), y)", True),
        ("mse", "def own_loss(a, b):\n        return F.l1_loss(a, b) * 2", True),
    ],
)
def test_a_loss_contradicts_only_where_it_is_surely_what_is_trained_on(tmp_path, asked, loss, confirms):
    known = read(tmp_path, LOOP.format(given="net.parameters()", loss=loss), loss=asked)
    assert {c for _, c in found(known, "loss")} == {confirms}


def test_a_wrapper_says_how_the_work_is_spread(tmp_path):
    source = "import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\nnet = DDP(torch.nn.Linear(2, 2))\n"
    assert found(read(tmp_path, source), "distributed") == {("ddp", True)}


def test_vllm_stops_after_sixteen_tokens_where_nothing_is_said(tmp_path):
    source = "from vllm import SamplingParams\nparams = SamplingParams(temperature=0.1)\n"
    assert found(read(tmp_path, source, max_new_tokens=700), "max_new_tokens") == {(16, False)}
    assert found(read(tmp_path, source), "max_new_tokens") == set()
