# known-difference: the recorder calls torch by the names that the program replaced
# slow
# journals: 1
"""The program replaces functions of torch itself and counts the calls."""
from collections import Counter

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
calls = Counter()


def counted(owner, name):
    original = getattr(owner, name)

    def replacement(*args, **kwargs):
        calls[name] += 1
        return original(*args, **kwargs)

    setattr(owner, name, replacement)


for name in "backward item detach clone isfinite tolist cpu norm isnan all is_complex".split():
    counted(torch.Tensor, name)
for name in "isfinite stack tensor _foreach_norm _foreach_add_ zeros get_rng_state is_grad_enabled save randn".split():
    counted(torch, name)
counted(torch.nn.Module, "__call__"), counted(torch.nn.Module, "modules"), counted(torch.optim.SGD, "step")
counted(torch.autograd, "backward"), counted(torch.compiler, "is_compiling")
for step in range(6):
    loss = net(torch.randn(8, 4)).pow(2).mean() * (float("nan") if step == 4 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), sorted(calls.items()))
