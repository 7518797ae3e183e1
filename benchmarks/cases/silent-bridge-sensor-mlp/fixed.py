import torch
from torch import nn


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, std=0.08)
        nn.init.zeros_(m.bias)


class StrainNet(nn.Module):
    def __init__(self, sizes=(18, 64, 64, 32)):
        super().__init__()
        layers = []
        for a, b in zip(sizes, sizes[1:]):
            layers += [nn.Linear(a, b), nn.ReLU(inplace=True)]
        self.hidden = nn.Sequential(*layers)
        self.out = nn.Linear(sizes[-1], 1)
        self.hidden.apply(init_weights)

    def forward(self, x):
        return self.out(self.hidden(x))


def readings(n, seed):
    gen = torch.Generator().manual_seed(seed)
    coef = torch.randn(18, 1, generator=torch.Generator().manual_seed(4)) / 3
    x = torch.randn(n, 18, generator=gen)
    strain = x @ coef + 0.5 * torch.relu(x[:, :1] * x[:, 1:2])
    return x, strain + 0.05 * torch.randn(n, 1, generator=gen)


if __name__ == "__main__":
    torch.manual_seed(0)
    x, s = readings(2000, 0)
    vx, vs = readings(500, 1)
    net = StrainNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    lossf = nn.MSELoss()
    epoch = 0
    while epoch < 12:
        perm = torch.randperm(len(x))
        for k in range(0, len(x), 50):
            sel = perm[k:k + 50]
            opt.zero_grad()
            loss = lossf(net(x[sel]), s[sel])
            loss.backward()
            opt.step()
        with torch.no_grad():
            val = lossf(net(vx), vs).item()
        print(f"epoch {epoch} mse {loss.item():.4f} val {val:.4f}")
        epoch += 1
    print(f"final val mse {val:.4f}")
