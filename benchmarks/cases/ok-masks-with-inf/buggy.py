"""Predict the next stop of delivery tours of different length."""
import torch
import torch.nn.functional as F
from torch import nn

STOPS, LONGEST = 24, 15


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, h, hidden):
        q, k, v = self.qkv(h).chunk(3, -1)
        scores = (q @ k.transpose(1, 2)) * h.shape[-1] ** -0.5
        return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v


class TourModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.stop = nn.Embedding(STOPS + 1, dim, padding_idx=STOPS)
        self.attention = Attention(dim)
        self.feed = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, STOPS))

    def forward(self, tour):
        n = tour.shape[1]
        future = torch.ones(n, n, dtype=torch.bool).triu(1)
        hidden = future | (tour == STOPS)[:, None, :]
        h = self.stop(tour)
        return self.feed(h + self.attention(h, hidden))


def tours(n, g):
    start = torch.randint(0, STOPS, (n, 1), generator=g)
    stride = torch.randint(1, 4, (n, 1), generator=g)
    stops = (start + stride * torch.arange(LONGEST + 1)) % STOPS
    lengths = torch.randint(2, LONGEST + 1, (n, 1), generator=g)
    return stops.masked_fill(torch.arange(LONGEST + 1) > lengths, STOPS)


def main():
    torch.manual_seed(5)
    g = torch.Generator().manual_seed(5)
    model = TourModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(200):
        stops = tours(32, g)
        logits = model(stops[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), stops[:, 1:], ignore_index=STOPS)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
