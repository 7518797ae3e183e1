"""Bikes that leave a station, from its own state and that of stations nearby."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(17)
STATIONS, HOURS, WIDTH = 40, 600, 16

place = torch.rand(STATIONS, 2) * 4
place[[7, 29]] = torch.tensor([[6.5, 0.2], [0.1, 7.0]])
distance = torch.cdist(place, place)
adjacency = ((distance < 0.9) & (distance > 0)).float()

state = torch.randn(HOURS, STATIONS, 3)
pull = adjacency / adjacency.sum(1, keepdim=True).clamp(min=1)
demand = torch.tanh(state[..., 0] - (pull @ state[..., 1:2]).squeeze(-1)) + 0.05 * torch.randn(HOURS, STATIONS)


class NeighbourAttention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value = nn.Linear(width, width)
        self.receive, self.send = nn.Linear(width, 1), nn.Linear(width, 1)

    def forward(self, h, adjacency):
        logits = F.leaky_relu(self.receive(h) + self.send(h).transpose(1, 2), 0.2)
        logits = logits.masked_fill(adjacency == 0, float("-inf"))
        return torch.softmax(logits, dim=-1) @ self.value(h)


class StationNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.read = nn.Linear(3, WIDTH)
        self.near = NeighbourAttention(WIDTH)
        self.out = nn.Sequential(nn.Linear(2 * WIDTH, 32), nn.ELU(), nn.Linear(32, 1))

    def forward(self, state, adjacency):
        own = F.elu(self.read(state))
        return self.out(torch.cat([own, self.near(own, adjacency)], dim=-1)).squeeze(-1)


net = StationNet()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(6):
    total = 0.0
    for hours in torch.randperm(HOURS).split(30):
        loss = F.mse_loss(net(state[hours], adjacency), demand[hours])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 20:.4f}")
print(f"final loss {total / 20:.4f}")
