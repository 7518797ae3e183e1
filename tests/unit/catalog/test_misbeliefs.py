"""What is said to be so, instead of a belief that is wrong, is so for the torch that is installed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from firstcause.catalog.sayings import misbeliefs

HERE = "tests/unit/catalog/test_misbeliefs.py"
FACTS = """
import copy, gc, io, math, pickle, warnings, weakref
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

def message(act):
    try:
        act()
    except Exception as error:
        return str(error)
    return ""

def leaf():
    return torch.ones(3, requires_grad=True)

#: clamp-ids
table = nn.Embedding(4, 2)
assert torch.equal(table(torch.tensor(9).clamp(max=3)), table(torch.tensor(3)))
#: saved-batches-need-pickle
file = io.BytesIO()
torch.save({"x": torch.ones(2), "ids": [1, 2], "name": "a"}, file)
file.seek(0)
assert torch.load(file)["ids"] == [1, 2]
#: lower-rate-and-clip
p = nn.Parameter(torch.ones(2))
p.grad = torch.tensor([math.nan, 1.0])
nn.utils.clip_grad_norm_([p], 1.0)
torch.optim.SGD([p], lr=1e-9).step()
assert torch.isnan(p).all()
#: adam-state-once
p = nn.Parameter(torch.ones(5))
p.grad = torch.ones(5)
adam = torch.optim.Adam([p])
adam.step()
assert sum(t.numel() for t in adam.state[p].values() if t.numel() > 1) == 10
#: bfloat16-needs-scaling
assert torch.finfo(torch.bfloat16).max > 3e38 and torch.tensor(1e-30).bfloat16() > 0
assert torch.finfo(torch.float16).max == 65504 and torch.tensor(1e-8).half() == 0
#: conv2d-needs-four-axes
conv = nn.Conv2d(3, 2, 1)
assert conv(torch.ones(3, 4, 4)).shape == (2, 4, 4)
assert "Expected 3D (unbatched) or 4D (batched) input" in message(lambda: conv(torch.ones(4, 3072)))
#: cpu-names-the-bad-id
assert message(lambda: table(torch.tensor(10))) == "index out of range in self"
assert message(lambda: F.cross_entropy(torch.ones(1, 10), torch.tensor([10]))) == "Target 10 is out of bounds."
#: inplace-on-leaf-is-a-version-error
assert "a leaf Variable that requires grad is being used in an in-place operation" in message(lambda: leaf().add_(1))
#: relu-in-place-breaks-linear
linear = nn.Linear(3, 3)
assert message(lambda: linear(leaf()).relu_().sum().backward()) == ""
def written():
    y = torch.relu(linear(leaf()))
    y *= 2
    y.sum().backward()
assert "modified by an inplace operation" in message(written)
#: eval-stops-gradients
model = nn.Linear(3, 1).eval()
model(torch.ones(1, 3)).sum().backward()
assert model.weight.grad is not None
#: ignored-targets-give-zero
assert torch.isnan(F.cross_entropy(torch.ones(2, 3), torch.tensor([-100, -100])))
#: linear-cannot-be-pickled
assert pickle.loads(pickle.dumps(nn.Linear(2, 2))).weight.shape == (2, 2)
assert "pickle" in message(lambda: pickle.dumps(lambda: 1)) or message(lambda: pickle.dumps(lambda: 1))
#: buffers-stay-behind
holder = nn.Module()
holder.register_buffer("kept", torch.ones(1))
holder.plain = torch.ones(1)
holder.to("meta")
assert holder.kept.is_meta and not holder.plain.is_meta
#: missing-zero-grad-leaks
p = leaf()
seen = set()
for n in range(1, 4):
    (p * 1).sum().backward()
    seen.add(p.grad.data_ptr())
    assert p.grad[0] == n
assert len(seen) == 1
#: kept-losses-keep-activations
def kept(backward):
    x = leaf()
    hidden = (x * 1).exp()
    alive, loss = weakref.ref(hidden), hidden.sum()
    saved = hidden.grad_fn
    if backward:
        loss.backward()
    return message(lambda: saved._saved_result)
assert "freed" in kept(True) and kept(False) == ""
#: item-in-eval-leaks
def outputs():
    y = linear(torch.ones(1, 3)).sum()
    node = weakref.ref(y)
    return y.item(), node
assert outputs()[1]() is None
#: anomaly-mode-finds-every-nan
with torch.autograd.set_detect_anomaly(True):
    x = torch.tensor(-1.0, requires_grad=True)
    y = x.log()
    assert torch.isnan(y) and message(y.backward) == "" and x.grad == -1
#: checkpoint-needs-use-reentrant
assert message(lambda: checkpoint(torch.exp, leaf())) == ""
#: softmax-overflows-in-half
assert torch.equal(torch.tensor([60000.0, 60000.0]).half().softmax(0), torch.tensor([0.5, 0.5]).half())
assert torch.tensor(12.0).half().exp() == math.inf
#: hook-escapes-no-grad
made = []
linear.register_forward_hook(lambda m, i, o: made.append((o * 1).requires_grad))
with torch.no_grad():
    linear(torch.ones(1, 3))
assert made == [False]
print("so it is")
"""


def test_facts_are_so() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-W", "ignore", "-c", FACTS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "so it is\n", done.stderr


def test_every_fact_that_names_this_test_is_in_it() -> None:
    here = {slug for slug, entry in misbeliefs().items() if entry.proof == HERE}
    assert set(re.findall(r"^#: ([a-z0-9-]+)$", FACTS, re.MULTILINE)) == here
