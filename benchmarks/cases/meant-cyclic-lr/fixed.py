import torch
import torch.nn as nn
from torch.optim.lr_scheduler import CyclicLR


def credit(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 16, generator=g)
    y = ((x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * torch.randn(n, generator=g)) > 0).long()
    return x, y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(16, 64), nn.Linear(64, 64), nn.Linear(64, 2)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def main():
    torch.manual_seed(70)
    x, y = credit(3000, 0)
    tx, ty = credit(1000, 1)
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9)
    sched = CyclicLR(opt, base_lr=0.005, max_lr=0.1, step_size_up=90, mode="triangular2", cycle_momentum=False)
    for epoch in range(12):
        for i in torch.randperm(3000).split(50):
            loss = nn.functional.cross_entropy(model(x[i]), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
        with torch.no_grad():
            acc = (model(tx).argmax(1) == ty).float().mean().item()
        print(f"epoch {epoch} lr {sched.get_last_lr()[0]:.4f} loss {loss.item():.4f} acc {acc:.3f}")
    print(f"final acc {acc:.4f}")


main()
