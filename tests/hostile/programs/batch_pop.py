# journals: 1
"""The body takes entries out of the batch: run twice on the same dict it would fail."""
import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
data = [{"x": torch.randn(8, 4), "labels": torch.randn(8), "names": ["a", "b"]} for _ in range(6)]
queue = list(range(6))
for batch in data:
    queue.pop()
    labels = batch.pop("labels")
    batch["names"].append("c")
    loss = (net(batch["x"].mul_(0.5)).squeeze(-1) - labels).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()), sorted(batch), batch["names"], queue)
torch.save([net.state_dict(), data], "final.pt")
