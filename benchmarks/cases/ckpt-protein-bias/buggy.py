"""Secondary structure of proteins: attention blocks with a relative bias, checkpointed."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

LENGTH, RESIDUES, STATES = 24, 21, 3


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.distance = nn.Sequential(nn.Linear(1, 8), nn.ReLU(), nn.Linear(8, 1))
        self.bias_cache = None

    def pair_bias(self, length):
        if self.bias_cache is None:
            place = torch.arange(length, dtype=torch.float32)
            gap = (place[:, None] - place[None, :]).abs()
            self.bias_cache = self.distance(gap[..., None] / length).squeeze(-1)
        return self.bias_cache

    def forward(self, h):
        q, k, v = self.qkv(self.norm(h)).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + self.pair_bias(h.shape[1])
        return h + scores.softmax(-1) @ v


class Structure(nn.Module):
    def __init__(self, dim=24, depth=3):
        super().__init__()
        self.embed = nn.Embedding(RESIDUES, dim)
        self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
        self.head = nn.Linear(dim, STATES)

    def forward(self, residues):
        h = self.embed(residues)
        for block in self.blocks:
            h = checkpoint(block, h, use_reentrant=False)
        return self.head(h)

    def new_batch(self):
        for block in self.blocks:
            block.bias_cache = None


def main():
    torch.manual_seed(2)
    g = torch.Generator().manual_seed(2)
    model = Structure()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(90):
        residues = torch.randint(0, RESIDUES, (16, LENGTH), generator=g)
        states = residues % STATES
        model.new_batch()
        logits = model(residues)
        loss = F.cross_entropy(logits.flatten(0, 1), states.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
