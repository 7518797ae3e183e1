import itertools

import torch
from torch import nn

MICRO, ACCUMULATE, UPDATES = 16, 8, 120


def firings(seed):
    g = torch.Generator().manual_seed(seed)
    while True:
        x = torch.randn(MICRO, 12, generator=g)
        yield x, (x[:, :4].prod(1) + x[:, 4:8].sum(1).sin() * 2)[:, None]


class Kiln(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(12, 96), nn.Linear(96, 96), nn.Linear(96, 1)

    def forward(self, x):
        return self.c(torch.relu(self.b(torch.relu(self.a(x)))))


def update(model, optimizer, feed):
    optimizer.zero_grad(set_to_none=True)
    total = 0.0
    for x, y in itertools.islice(feed, ACCUMULATE):
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        total += loss.item() / ACCUMULATE
    optimizer.step()
    return total


def main():
    torch.manual_seed(4)
    model, feed = Kiln(), firings(1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03, momentum=0.9)
    recent = []
    for number in range(UPDATES):
        recent.append(update(model, optimizer, feed))
        if number % 20 == 19:
            print(f"update {number} loss {sum(recent[-10:]) / 10:.4f}")
    x, y = next(firings(2))
    print(f"final loss {sum(recent[-10:]) / 10:.4f}")


if __name__ == "__main__":
    main()
