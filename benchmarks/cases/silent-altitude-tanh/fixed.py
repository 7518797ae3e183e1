import torch
from torch import nn


def soundings(n, seed):
    g = torch.Generator().manual_seed(seed)
    u = torch.randn(n, 5, generator=g)
    temp = 10 * u[:, 0] + 4 * torch.sin(2 * u[:, 1]) + 3 * u[:, 2] * u[:, 3]
    scale = torch.tensor([800.0, 9000.0, 300.0, 1500.0, 60.0])
    offset = torch.tensor([1500.0, 90000.0, 2000.0, 4000.0, 180.0])
    return u * scale + offset, (temp / 10).unsqueeze(1)


class SoundingNet(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.layer1 = nn.Linear(5, width)
        self.layer2 = nn.Linear(width, width)
        self.layer3 = nn.Linear(width, 1)

    def forward(self, x):
        x = torch.tanh(self.layer1(x))
        x = torch.tanh(self.layer2(x))
        return self.layer3(x)


def main():
    torch.manual_seed(0)
    x, y = soundings(2000, 0)
    vx, vy = soundings(500, 1)
    mean, std = x.mean(0), x.std(0)
    x, vx = (x - mean) / std, (vx - mean) / std
    model = SoundingNet()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(14):
        for i in torch.randperm(2000).split(50):
            loss = nn.functional.mse_loss(model(x[i]), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 2:
            with torch.no_grad():
                print(f"epoch {epoch} mse {loss.item():.4f} val {nn.functional.mse_loss(model(vx), vy).item():.4f}")
    with torch.no_grad():
        print(f"final val {nn.functional.mse_loss(model(vx), vy).item():.4f}")


main()
