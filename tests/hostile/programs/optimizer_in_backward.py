# slow
# journals: 1
"""Optimizers step inside backward, by hooks on gradients; user hooks change and print them."""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
optimizers = {p: torch.optim.SGD([p], lr=0.05) for p in net.parameters()}


def step_now(parameter):
    optimizers[parameter].step()
    optimizers[parameter].zero_grad()
    print("stepped", tuple(parameter.shape))


for parameter in net.parameters():
    parameter.register_post_accumulate_grad_hook(step_now)
net[0].weight.register_hook(lambda grad: grad.clamp(-0.1, 0.1))
net.register_full_backward_hook(lambda module, before, after: print("module hook", [None if g is None else g.shape for g in before]))
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    loss.backward()
    print(step, repr(loss.item()), [p.grad for p in net.parameters()])
torch.save(net.state_dict(), "final.pt")
