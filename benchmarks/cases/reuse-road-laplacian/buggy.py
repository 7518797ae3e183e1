"""Traffic on a road network: learned edge weights, two propagation steps."""
import torch
from torch import nn

NODES, HISTORY = 14, 6


class RoadNet(nn.Module):
    def __init__(self, adjacency, hidden=16):
        super().__init__()
        self.register_buffer("adjacency", adjacency)
        self.strength = nn.Parameter(torch.zeros(NODES, NODES))
        self.into = nn.Linear(HISTORY, hidden)
        self.out = nn.Linear(hidden, 1)

    def propagation(self):
        weights = torch.exp(self.strength) * self.adjacency
        return weights / weights.sum(1, keepdim=True)

    def forward(self, flow, propagation):
        h = torch.relu(self.into(flow))
        h = propagation @ (propagation @ h)
        return self.out(h).squeeze(-1)


class Traffic:
    def __init__(self, seed=9):
        self.g = torch.Generator().manual_seed(seed)
        ring = torch.eye(NODES).roll(1, 0) + torch.eye(NODES).roll(-1, 0)
        self.adjacency = ring + torch.eye(NODES)

    def sample(self, size):
        flow = torch.randn(size, NODES, HISTORY, generator=self.g)
        recent = flow.mean(-1)
        nxt = (recent @ self.adjacency) / 3 + 0.05 * torch.randn(size, NODES, generator=self.g)
        return flow, nxt


def main():
    torch.manual_seed(3)
    traffic = Traffic()
    model = RoadNet(traffic.adjacency)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    propagation = model.propagation()
    running = None
    for step in range(200):
        flow, nxt = traffic.sample(24)
        loss = (model(flow, propagation) - nxt).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running = loss.item() if running is None else 0.9 * running + 0.1 * loss.item()
        if step % 50 == 0:
            print(f"step {step} loss {running:.4f}")
    print(f"final loss {running:.4f}")


if __name__ == "__main__":
    main()
