# journals: 1
"""LBFGS calls its closure several times a step; the calls are counted and printed."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=4, line_search_fn="strong_wolfe")
x, y = torch.randn(16, 4), torch.randn(16, 1)
calls = 0
for step in range(4):

    def closure():
        global calls
        calls += 1
        optimizer.zero_grad()
        loss = (net(x) - y).pow(2).mean()
        loss.backward()
        return loss

    print(step, repr(optimizer.step(closure).item()), calls, closure.__name__, closure.__qualname__)
torch.save([net.state_dict(), optimizer.state_dict()], "final.pt")
