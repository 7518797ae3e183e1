"""What the causes of silent faults say about torch holds for the torch that is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

CLAIMS = """
import math, warnings
import numpy as np, torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, DistributedSampler

torch.manual_seed(0)
# softmax-before-cross-entropy: the best loss is ln(1 + (C - 1) / e)
for classes, floor in ((2, 0.313), (10, 1.461)):
    best = F.cross_entropy(torch.eye(classes)[:1], torch.tensor([0])).item()
    assert abs(best - floor) < 1e-3 and abs(best - math.log(1 + (classes - 1) / math.e)) < 1e-6
# sigmoid-before-bce-logits
ends = F.binary_cross_entropy_with_logits(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0]), reduction="none")
assert abs(ends[0] - 0.693) < 1e-3 and abs(ends[1] - 0.313) < 1e-3
# zero-grad-before-step: gradients are None after zero_grad, and step skips them
p = nn.Parameter(torch.ones(2))
sgd = torch.optim.SGD([p], lr=1.0)
p.sum().backward()
sgd.zero_grad()
sgd.step()
assert p.grad is None and torch.equal(p, torch.ones(2))
# missing-zero-grad: the gradient is the sum, in one tensor
p.sum().backward()
held = p.grad
p.sum().backward()
assert p.grad is held and p.grad[0] == 2
# wrong-softmax-dim: a batch of one gives 1
assert torch.equal(torch.randn(1, 4).softmax(0), torch.ones(1, 4))
# wrong-reduction: a mean stays when the batch is repeated, a sum doubles
x, y = torch.randn(3, 4), torch.tensor([0, 1, 2])
twice = (x.repeat(2, 1), y.repeat(2))
assert torch.isclose(F.cross_entropy(*twice), F.cross_entropy(x, y))
assert torch.isclose(F.cross_entropy(*twice, reduction="sum"), 2 * F.cross_entropy(x, y, reduction="sum"))
# transpose-by-view: the right shape, other places
t = torch.arange(6).view(2, 3)
assert t.view(3, 2).shape == t.t().shape and not torch.equal(t.view(3, 2), t.t())
# non-contiguous-gradient: the gradient of a sum has strides 0, that of a cat is a slice
seen = []
class Look(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1
    @staticmethod
    def backward(ctx, grad):
        seen.append(grad)
        return grad
leaf = torch.ones(3, 2, requires_grad=True)
Look.apply(leaf).sum().backward()
assert seen[-1].stride() == (0, 0)
(torch.cat([Look.apply(leaf), leaf], 1) * torch.ones(3, 4)).sum().backward()
assert not seen[-1].is_contiguous()
# unregistered-submodules, accidentally-shared-parameters
class Listed(nn.Module):
    def __init__(self, hold):
        super().__init__()
        self.layers = hold([nn.Linear(2, 2), nn.Linear(2, 2)])
assert len(list(Listed(list).parameters())) == 0 and len(list(Listed(nn.ModuleList).parameters())) == 4
shared = nn.ModuleList([nn.Linear(2, 2)] * 3)
assert len(list(shared.parameters())) == 2 and len(shared.state_dict()) == 6
# optimizer-before-params-replaced: the optimizer keeps the old tensors
model = nn.Sequential(nn.Linear(2, 2))
sgd = torch.optim.SGD(model.parameters(), lr=1.0)
model[0] = nn.Linear(2, 3)
assert not {id(q) for q in model.parameters()} & {id(q) for g in sgd.param_groups for q in g["params"]}
# dropout-active-at-eval: the function drops by default
assert (F.dropout(torch.ones(1000)) == 0).any() and not (F.dropout(torch.ones(1000), training=False) == 0).any()
# eval-mode-in-training: statistics stand still
norm = nn.BatchNorm1d(2).eval()
norm(torch.randn(8, 2))
assert norm.num_batches_tracked == 0
# dead-relu-init: output and gradient are 0
dead = nn.Linear(3, 4)
nn.init.constant_(dead.bias, -100.0)
F.relu(dead(torch.randn(5, 3))).sum().backward()
assert dead.weight.grad.abs().sum() == 0
# saturated-activation
s = torch.tensor(20.0, requires_grad=True)
s.sigmoid().backward()
assert s.grad < 1e-8
# inplace-data-mutation: from_numpy shares memory
array = np.ones(3)
torch.from_numpy(array).mul_(2)
assert array[0] == 2
# sampler-set-epoch-missing, sampler-missing
sampler = DistributedSampler(range(10), num_replicas=2, rank=0)
assert list(sampler) == list(sampler)
first = list(sampler)
sampler.set_epoch(1)
assert list(sampler) != first
other = DistributedSampler(range(10), num_replicas=2, rank=1)
assert not set(first) & set(other)
# scheduler-per-batch: a schedule counts its calls
sgd = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(sgd, T_max=10)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for _ in range(10):
        cosine.step()
assert cosine.get_last_lr()[0] < 1e-9
# wrong-sign-loss
up = nn.Parameter(torch.zeros(1))
up.grad = torch.ones(1)
torch.optim.SGD([up], lr=1.0, maximize=True).step()
assert up.item() == 1
# module-prefix-strict-false: keys that do not match are left out, the prefix can be removed
state = {"module." + k: torch.full_like(v, 7.0) for k, v in nn.Linear(2, 2).state_dict().items()}
loaded = nn.Linear(2, 2)
report = loaded.load_state_dict(state, strict=False)
assert len(report.missing_keys) == len(report.unexpected_keys) == 2 and (loaded.weight != 7).all()
torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
loaded.load_state_dict(state)
assert (loaded.weight == 7).all()
# frozen-by-mistake: with nothing that requires a gradient, backward raises
try:
    nn.Linear(2, 2).requires_grad_(False)(torch.ones(1, 2)).sum().backward()
except RuntimeError as error:
    assert "does not require grad" in str(error)
# checkpoint-unsafe-or-unreadable
assert callable(torch.serialization.get_unsafe_globals_in_checkpoint)
# optimizer-state-not-restored: the first step of a fresh Adam has the length of the learning rate
q = nn.Parameter(torch.zeros(1))
q.grad = torch.tensor([1e-3])
torch.optim.Adam([q], lr=0.1).step()
assert abs(q.item() + 0.1) < 1e-4
print("held")
"""
WORKERS = """
import numpy as np, torch
from torch.utils.data import DataLoader, Dataset
class Draws(Dataset):
    def __init__(self):
        self.own = np.random.default_rng(0)
    def __len__(self):
        return 2
    def __getitem__(self, index):
        return self.own.integers(1 << 30), np.random.randint(1 << 30), torch.randint(1 << 30, ())
own, shared, torchs = zip(*[(int(a), int(b), int(c)) for a, b, c in DataLoader(Draws(), num_workers=2, batch_size=None)])
assert own[0] == own[1] and shared[0] != shared[1] and torchs[0] != torchs[1]
print("held")
"""


@pytest.mark.parametrize("claims", [CLAIMS, WORKERS], ids=["training", "workers"])
def test_claims(claims: str) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", claims]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "held\n", done.stderr
