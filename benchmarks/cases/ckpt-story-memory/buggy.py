"""Next-token model over pieces of a story with a memory of earlier pieces."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

VOCAB, PIECE = 30, 4


class MemoryBlock(nn.Module):
    def __init__(self, dim, keep=8):
        super().__init__()
        self.keep = keep
        self.memory = []
        self.q, self.kv = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, h):
        self.memory.append(h.detach())
        context = torch.cat(self.memory[-self.keep:], dim=1)
        k, v = self.kv(context).chunk(2, dim=-1)
        scores = self.q(h) @ k.transpose(1, 2) / h.shape[-1] ** 0.5
        return h + self.out(scores.softmax(-1) @ v)


class StoryModel(nn.Module):
    def __init__(self, dim=16, depth=2):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.blocks = nn.ModuleList(MemoryBlock(dim) for _ in range(depth))
        self.next = nn.Linear(dim, VOCAB)

    def start(self):
        for block in self.blocks:
            block.memory.clear()

    def forward(self, piece):
        h = self.embed(piece)
        for block in self.blocks:
            h = checkpoint(block, h, use_reentrant=False)
        return self.next(h)


def stories(n, pieces, g):
    first = torch.randint(0, VOCAB, (n, 1), generator=g)
    return (first + 3 * torch.arange(pieces * PIECE + 1)) % VOCAB


def main():
    torch.manual_seed(8)
    g = torch.Generator().manual_seed(8)
    model = StoryModel()
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for story in range(30):
        tokens = stories(8, 5, g)
        model.start()
        for piece in range(5):
            at = piece * PIECE
            logits = model(tokens[:, at:at + PIECE])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, at + 1:at + PIECE + 1].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
        if story % 10 == 0:
            print(f"story {story} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
