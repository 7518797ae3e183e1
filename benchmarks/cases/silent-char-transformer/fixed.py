import math
import torch
import torch.nn as nn
import torch.nn.functional as F

V, T, D = 24, 16, 32


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
        self.register_buffer("mask", torch.tril(torch.ones(T, T)).bool())

    def forward(self, x):
        q, k, v = self.qkv(self.ln1(x)).chunk(3, -1)
        att = (q @ k.transpose(1, 2) / math.sqrt(D)).masked_fill(~self.mask, float("-inf"))
        x = x + self.proj(att.softmax(-1) @ v)
        return x + self.mlp(self.ln2(x))


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, D), nn.Embedding(T, D)
        self.h = nn.Sequential(Block(), Block())
        self.lm_head = nn.Linear(D, V)

    def forward(self, idx):
        h = self.h(self.wte(idx) + self.wpe.weight)
        return self.lm_head(h)


torch.manual_seed(1)
jump = torch.randperm(V)
def sample(n):
    seq = [torch.randint(0, V, (n,))]
    for _ in range(T):
        nxt = torch.where(torch.rand(n) < 0.85, jump[seq[-1]], torch.randint(0, V, (n,)))
        seq.append(nxt)
    s = torch.stack(seq, 1)
    return s[:, :-1], s[:, 1:]


model = TinyGPT()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for it in range(201):
    xb, yb = sample(32)
    out = model(xb)
    loss = F.cross_entropy(out.reshape(-1, V), yb.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 40 == 0:
        acc = (out.argmax(-1) == yb).float().mean()
        print(f"{it} loss {loss:.3f} next token accuracy {acc:.3f}")
xb, yb = sample(200)
print(f"final next token loss {loss.item():.4f}")
