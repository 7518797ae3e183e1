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


def test_widths_and_rates_of_one_layer_among_several_only_confirm(tmp_path):
    two = LOOP.replace("self.head =", "self.next = nn.LSTM(96, 32)\n        self.head =")
    known = read(tmp_path, two.format(given="net.parameters()", loss="loss = F.mse_loss(net(x), y)"))
    assert found(known, "hidden_size") == {(96, True), (32, True), (4, True)}
    assert found(known, "num_layers") == {(2, True)}
    assert found(known, "dropout") == {(0.3, True)}


def test_the_only_recurrent_network_says_its_width_layers_and_rate(tmp_path):
    known = read(tmp_path, LOOP.format(given="net.parameters()", loss="loss = F.mse_loss(net(x), y)"))
    assert (96, False) in found(known, "hidden_size")
    assert found(known, "num_layers") == {(2, False)}
    assert found(known, "dropout") == {(0.3, False)}


def test_the_only_encoder_says_its_width_layers_and_rate(tmp_path):
    encoder = """
from torch import nn
layer = nn.TransformerEncoderLayer(128, 4, 512{given}, batch_first=True)
body = nn.TransformerEncoder(layer, 6)
{more}
"""
    known = read(tmp_path, encoder.format(given="", more=""))
    assert (found(known, "hidden_size"), found(known, "num_layers")) == ({(128, False)}, {(6, False)})
    assert found(known, "dropout") == {(0.1, False)}
    assert found(read(tmp_path, encoder.format(given=", 0.3", more="")), "dropout") == {(0.3, False)}
    two = read(tmp_path, encoder.format(given="", more="other = nn.LSTM(8, 32, 2)"))
    assert (128, False) not in found(two, "hidden_size")


def test_a_rate_of_a_layer_of_its_own_leaves_that_of_the_recurrent_one_open(tmp_path):
    both = LOOP.replace("self.head =", "self.drop = nn.Dropout(0.5)\n        self.head =")
    known = read(tmp_path, both.format(given="net.parameters()", loss="loss = F.mse_loss(net(x), y)"))
    assert found(known, "dropout") == {(0.3, True), (0.5, False)}


SCHEDULE = """
import math
import torch

net = torch.nn.Linear(4, 2)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
total = 2000

def factor(step):
    if step < 300:
        return step / 300
    return {after}

schedule = torch.optim.lr_scheduler.LambdaLR(opt, factor)
"""


@pytest.mark.parametrize(
    ("after", "scheduler"),
    [
        ("0.5 * (1 + math.cos(math.pi * step / total))", {("cosine", False)}),
        ("(total - step) / total", {("linear", True)}),
        ("max(0.0, 1 - step / total)", {("linear", True)}),
        ("0.5", set()),
    ],
)
def test_a_factor_of_the_step_says_the_warmup_and_a_cosine(tmp_path, after, scheduler):
    known = read(tmp_path, SCHEDULE.format(after=after))
    assert found(known, "warmup_steps") == {(300, False)}
    assert found(known, "scheduler") == scheduler


def test_a_bound_that_is_only_a_part_of_the_divisor_is_no_warmup(tmp_path):
    text = SCHEDULE.format(after="1.0").replace("step < 300", "step < 30")
    assert not found(read(tmp_path, text), "warmup_steps")


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
