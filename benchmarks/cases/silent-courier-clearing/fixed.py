import torch
from torch import nn


class Courier:
    """Predicts delivery minutes from a dict batch."""

    def __init__(self, width=48, lr=2e-2):
        self.net = nn.Sequential(nn.Linear(9, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
        self.solver = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)
        self.history = []

    def cost(self, batch):
        return nn.functional.huber_loss(self.net(batch["stops"]).squeeze(1), batch["minutes"])

    def update(self, batch):
        value = self.cost(batch)
        self.solver.zero_grad()
        value.backward()
        self.solver.step()
        return value.item()

    def fit(self, feed, epochs):
        for epoch in range(epochs):
            self.solver.zero_grad()
            seen = [self.update(batch) for batch in feed(epoch)]
            self.history.append(sum(seen) / len(seen))
            print(f"epoch {epoch} cost {self.history[-1]:.4f}")

    @torch.no_grad()
    def score(self, batch):
        return self.cost(batch).item()


def routes(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 9, generator=g) * 2 - 1
    y = 3 * x[:, 0] * x[:, 1] + 2 * torch.sin(3 * x[:, 2]) + x[:, 3:].sum(1) + 0.1 * torch.randn(n, generator=g)
    return {"stops": x, "minutes": y}


def main():
    torch.manual_seed(3)
    data, held = routes(1600, 1), routes(400, 2)

    def feed(epoch):
        order = torch.randperm(1600)
        for start in range(0, 1600, 40):
            rows = order[start : start + 40]
            yield {k: v[rows] for k, v in data.items()}

    courier = Courier()
    courier.fit(feed, 10)
    print(f"final cost {courier.score(held):.4f}")


if __name__ == "__main__":
    main()
