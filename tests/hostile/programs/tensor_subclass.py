# slow
# journals: 1
"""Parameters, gradients and batches are tensor subclasses that log what is done to them."""
import torch

torch.manual_seed(0)
log = []


class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        log.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})


weight = torch.nn.Parameter(torch.randn(4, 1).as_subclass(Logged))
optimizer = torch.optim.SGD([weight], lr=0.05, foreach=False)
for step in range(3):
    loss = (torch.randn(8, 4).as_subclass(Logged) @ weight).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), type(weight.grad).__name__, len(log))
print(log)
