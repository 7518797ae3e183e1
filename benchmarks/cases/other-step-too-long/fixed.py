import torch


def pump_curve(n, seed=0):
    """Efficiency against flow; features are powers of the flow."""
    g = torch.Generator().manual_seed(seed)
    flow = 0.2 + 1.2 * torch.rand(n, 1, generator=g)
    efficiency = 1.6 * flow - 0.8 * flow ** 2 + 0.1 * torch.sin(5 * flow) + 0.01 * torch.randn(n, 1, generator=g)
    return torch.cat([flow ** k for k in range(1, 6)], dim=1), efficiency


def batches(x, y, size, gen):
    for rows in torch.randperm(len(x), generator=gen).split(size):
        yield x[rows], y[rows]


def train(epochs=25, size=50):
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    x, y = pump_curve(1000)
    model = torch.nn.Linear(x.shape[1], 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(epochs):
        losses = []
        for xb, yb in batches(x, y, size, gen):
            loss = (model(xb) - yb).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} first {losses[0]:.4g} last {losses[-1]:.4g}")
    return losses[-1]


if __name__ == "__main__":
    print(f"final loss {train():.4f}")
