import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        self.n_heads, self.d = n_heads, dim // n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def split(self, x):
        B, T, _ = x.shape
        return x.view(B, T, self.n_heads, self.d).transpose(1, 2)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        w = torch.softmax(q @ k.transpose(-1, -2) / self.d ** 0.5, dim=-1)
        y = (w @ v).transpose(1, 2).reshape(B, T, C)
        return self.o(y)


class Retriever(nn.Module):
    """For each position: the value that stands beside the same key elsewhere in the row."""

    def __init__(self, n_keys=6, n_vals=8, dim=32):
        super().__init__()
        self.key, self.val = nn.Embedding(n_keys, dim), nn.Embedding(n_vals + 1, dim)
        self.att = MultiHeadSelfAttention(dim, 4)
        self.mlp = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 64), nn.ReLU(), nn.Linear(64, n_vals))

    def forward(self, keys, vals):
        x = self.key(keys) + self.val(vals)
        return self.mlp(x + self.att(x))


def rows(n):
    keys = torch.stack([torch.randperm(6) for _ in range(n)])
    vals = torch.randint(1, 9, (n, 6))
    ask = torch.randint(0, 6, (n, 1))
    keys = torch.cat([keys, keys.gather(1, ask)], 1)
    return keys, torch.cat([vals, torch.zeros(n, 1, dtype=torch.long)], 1), vals.gather(1, ask)[:, 0] - 1


torch.manual_seed(0)
data = rows(3000)
model = Retriever()
opt = torch.optim.Adam(model.parameters(), lr=4e-3)
for epoch in range(7):
    hits = 0
    for i in torch.randperm(3000).split(60):
        keys, vals, target = (d[i] for d in data)
        logits = model(keys, vals)[:, -1]
        loss = nn.functional.cross_entropy(logits, target)
        opt.zero_grad()
        loss.backward()
        opt.step()
        hits += (logits.argmax(-1) == target).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {hits / 3000:.4f}")
print(f"final accuracy {hits / 3000:.4f}")
