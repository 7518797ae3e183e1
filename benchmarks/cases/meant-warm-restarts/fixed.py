import torch
from torch import nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 12, 3)
        self.bn = nn.BatchNorm2d(12)
        self.fc = nn.Linear(12 * 9, 6)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 2)
        return self.fc(x.flatten(1))


def glyphs(n, seed):
    g = torch.Generator().manual_seed(seed)
    proto = (torch.rand(6, 1, 8, 8, generator=torch.Generator().manual_seed(1)) > 0.5).float()
    y = torch.randint(0, 6, (n,), generator=g)
    return proto[y] + 0.8 * torch.randn(n, 1, 8, 8, generator=g), y


def main():
    torch.manual_seed(25)
    x, y = glyphs(1500, 0)
    tx, ty = glyphs(500, 1)
    model = Digits()
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    sched = CosineAnnealingWarmRestarts(opt, T_0=3, T_mult=2, eta_min=1e-4)
    iters = 1500 // 50
    for epoch in range(9):
        model.train()
        for k, i in enumerate(torch.randperm(1500).split(50)):
            loss = F.cross_entropy(model(x[i]), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step(epoch + k / iters)
        model.eval()
        with torch.no_grad():
            test = F.cross_entropy(model(tx), ty).item()
        print(f"epoch {epoch} lr {opt.param_groups[0]['lr']:.4f} test loss {test:.4f}")
    print(f"final test loss {test:.4f}")


if __name__ == "__main__":
    main()
