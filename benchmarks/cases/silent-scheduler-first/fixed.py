import torch
from torch import nn, optim
import torch.nn.functional as F


def clicks(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 20, generator=g)
    w = torch.randn(20, 6, generator=torch.Generator().manual_seed(30))
    return x, (x @ w + 1.5 * torch.sin(x[:, :6] * 2)).argmax(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 64)
        self.fc2 = nn.Linear(64, 6)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def train(model, optimizer, x, y):
    model.train()
    total = 0.0
    for i in torch.randperm(len(x)).split(32):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[i]), y[i])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(i)
    return total / len(x)


def main():
    torch.manual_seed(1)
    x, y = clicks(4000, 0)
    tx, ty = clicks(1000, 1)
    model = Net()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
    for epoch in range(3):
        for _ in range(2):
            loss = train(model, optimizer, x, y)
        scheduler.step()
        model.eval()
        with torch.no_grad():
            test = F.cross_entropy(model(tx), ty).item()
        print(f"stage {epoch} train {loss:.4f} test {test:.4f}")
    print(f"final test {test:.4f}")


if __name__ == "__main__":
    main()
