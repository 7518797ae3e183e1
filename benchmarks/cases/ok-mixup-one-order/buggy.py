import torch
from torch import nn


def spots(n, seed):
    g = torch.Generator().manual_seed(seed)
    centre = torch.randn(4, 10, generator=torch.Generator().manual_seed(5))
    y = torch.randint(0, 4, (n,), generator=g)
    return centre[y] + 0.8 * torch.randn(n, 10, generator=g), y


def mixed(x, y):
    share = float(torch.distributions.Beta(0.4, 0.4).sample())
    other = torch.randperm(len(x))
    x_other, y_other = x[other], y[other]
    return share * x + (1 - share) * x_other, y, y_other, share


def main():
    torch.manual_seed(0)
    x, y = spots(1200, 1)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    x_train, y_train = x[:1000], y[:1000]
    x_held, y_held = x[1000:], y[1000:]
    net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(10):
        for rows in torch.randperm(1000).split(25):
            inputs, first, second, share = mixed(x_train[rows], y_train[rows])
            out = net(inputs)
            loss = share * nn.functional.cross_entropy(out, first) + (1 - share) * nn.functional.cross_entropy(out, second)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        print(f"final held out {nn.functional.cross_entropy(net(x_held), y_held).item():.4f}")


if __name__ == "__main__":
    main()
