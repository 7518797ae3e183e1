import torch
from torch import nn


class Soil:
    """Batches of probes and the moisture measured beside them."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.probe = torch.randn(n, 8, generator=g)
        self.moisture = torch.sin(self.probe[:, 0]) + self.probe[:, 1] * 0.7 + 0.1 * torch.randn(n, generator=g)

    def batches(self, size):
        order = torch.randperm(len(self.probe))
        for start in range(0, len(order), size):
            yield {
                "probe": self.probe[order[start : start + size]],
                "moisture": self.moisture[start : start + size],
            }


def main():
    torch.manual_seed(0)
    train, held = Soil(1500, 1), Soil(400, 2)
    net = nn.Sequential(nn.Linear(8, 40), nn.SiLU(), nn.Linear(40, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(10):
        for batch in train.batches(30):
            loss = nn.functional.mse_loss(net(batch["probe"]).squeeze(-1), batch["moisture"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        print(f"final held out {nn.functional.mse_loss(net(held.probe).squeeze(-1), held.moisture).item():.4f}")


if __name__ == "__main__":
    main()
