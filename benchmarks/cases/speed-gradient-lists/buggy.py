import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(40, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
x = torch.randn(600, 40)
y = x[:, :3].sum(1, keepdim=True)
history = []
for epoch in range(6):
    for i in range(0, 600, 20):
        loss = ((model(x[i:i + 20]) - y[i:i + 20]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        stats = {name: (p.grad.tolist(), p.detach().abs().max().item()) for name, p in model.named_parameters()}
        history.append(str(stats)[:80])
    print(epoch, loss.item())
