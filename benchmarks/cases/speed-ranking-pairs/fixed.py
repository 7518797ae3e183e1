import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(480, 12)
score = x[:, 0] * 2 - x[:, 3]
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)


def ranking_loss(pred, target):
    total = torch.zeros(())
    n = pred.shape[0]
    sign = torch.sign(target[:, None] - target[None, :])
    total = total + torch.relu(0.5 - sign * (pred[:, None] - pred[None, :])).sum()
    return total / (n * n)


for epoch in range(3):
    for k in range(0, 480, 24):
        loss = ranking_loss(model(x[k:k + 24]).squeeze(1), score[k:k + 24])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, round(loss.item(), 4))
