# slow
# journals: 1
"""Inner loops by autograd.grad with create_graph and functional_call, an outer optimizer on top."""
import torch
from torch.func import functional_call

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(4):
    fast = dict(net.named_parameters())
    for inner in range(2):
        inner_loss = functional_call(net, fast, (torch.randn(8, 4),)).pow(2).mean()
        gradients = torch.autograd.grad(inner_loss, list(fast.values()), create_graph=True)
        fast = {name: p - 0.1 * g for (name, p), g in zip(fast.items(), gradients)}
    loss = functional_call(net, fast, (torch.randn(8, 4),)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(inputs=list(net.parameters()), retain_graph=step == 1)
    if step == 1:
        loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), repr(inner_loss.item()))
torch.save(net.state_dict(), "final.pt")
