import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def views(x):
    """Each sample twice, with other noise."""
    return torch.cat([x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)])


def tones(n, seed):
    g = torch.Generator().manual_seed(seed)
    centre = torch.randn(6, 15, generator=torch.Generator().manual_seed(5))
    y = torch.randint(0, 6, (n,), generator=g)
    return centre[y] + 0.7 * torch.randn(n, 15, generator=g), y


class Learner:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def learn(self, x, y):
        x, y = views(x), y.repeat(2)
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(*tones(1000, 1)), batch_size=25, shuffle=True)
    learner = Learner(nn.Sequential(nn.Linear(15, 32), nn.ReLU(), nn.Linear(32, 6)))
    for epoch in range(8):
        value = [learner.learn(x, y) for x, y in loader][-1]
        print(f"epoch {epoch} loss {value:.4f}")
    x, y = tones(400, 2)
    with torch.no_grad():
        print(f"final held out {nn.functional.cross_entropy(learner.net(x), y).item():.4f}")


if __name__ == "__main__":
    main()
