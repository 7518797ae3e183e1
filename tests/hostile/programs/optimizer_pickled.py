# journals: 1
"""Optimizer and model are pickled whole, deep-copied and searched for hooks and foreign attributes."""
import copy
import pickle

import torch

torch.manual_seed(0)


class Slow(torch.optim.SGD):
    def step(self, closure=None):
        self.steps = getattr(self, "steps", 0) + 1
        return super().step(closure)


net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 1))
optimizer = Slow(net.parameters(), lr=0.05, momentum=0.9)
optimizer.register_step_pre_hook(lambda o, args, kwargs: print("pre hook", args, kwargs))
optimizer.register_step_post_hook(lambda o, args, kwargs: print("post hook", args, kwargs))
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), sorted(vars(optimizer)), sorted(optimizer.param_groups[0]))
hooks = [(k, len(v)) for m in (*net.modules(), optimizer) for k, v in sorted(vars(m).items()) if "hooks" in k]
print(hooks, [sorted(vars(p)) for p in net.parameters()], [p._backward_hooks for p in net.parameters()])
print(Slow.step.__qualname__, torch.optim.SGD.step.__qualname__, torch.Tensor.backward.__qualname__, torch.Tensor.backward.__module__)
print(torch.nn.Module.__call__.__qualname__, torch.optim.Optimizer.__init__.__qualname__, torch.autograd.backward.__qualname__)
other = copy.deepcopy(net)
plain = torch.optim.SGD(other.parameters(), lr=0.05)
for step in range(2):
    other(torch.randn(8, 4)).pow(2).mean().backward()
    plain.step()
torch.save(net, "whole.pt")
torch.save(plain, "optimizer.pt")
print([sorted(vars(o)) for o in pickle.loads(pickle.dumps([other, plain]))])
