"""Next event of a washing machine's log, a two-head causal transformer."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EVENTS, LENGTH = 16, 24


def logs(n, seed):
    """Programs are cycles over a few events with an occasional skip."""
    g = torch.Generator().manual_seed(seed)
    step = torch.randint(1, 4, (n, 1), generator=g)
    start = torch.randint(0, EVENTS, (n, 1), generator=g)
    skips = (torch.rand(n, LENGTH + 1, generator=g) < 0.05).long().cumsum(1)
    return (start + step * torch.arange(LENGTH + 1) + skips) % EVENTS


class CausalBlock(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.register_buffer("mask", torch.full((LENGTH, LENGTH), float("-inf")).triu(1))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) * (d // self.heads) ** -0.5 + self.mask[:t, :t]
        x = x + self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.ln2(x))


class EventModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.event, self.slot = nn.Embedding(EVENTS, dim), nn.Parameter(0.02 * torch.randn(LENGTH, dim))
        self.block = CausalBlock(dim)
        self.out = nn.Linear(dim, EVENTS)

    def forward(self, ids):
        return self.out(self.block(self.event(ids) + self.slot[: ids.shape[1]]))


if __name__ == "__main__":
    torch.manual_seed(0)
    data = logs(800, seed=1)
    model = EventModel()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for step in range(120):
        rows = torch.randint(0, len(data), (32,))
        ids, target = data[rows, :-1], data[rows, 1:]
        loss = F.cross_entropy(model(ids).transpose(1, 2), target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"step {step:3d} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")
