"""Objects of a museum matched to captions of their classes."""
import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 5


class CaptionMatcher(nn.Module):
    def __init__(self, captions, features=12, dim=16):
        super().__init__()
        self.register_buffer("captions", captions)
        self.words = nn.EmbeddingBag(40, dim)
        self.text = nn.Linear(dim, dim)
        self.image = nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, dim))

    def encode(self, captions):
        return F.normalize(self.text(torch.relu(self.words(captions))), dim=-1)

    def prototypes(self):
        return self.encode(self.captions)

    def forward(self, features, prototypes):
        return 8 * F.normalize(self.image(features), dim=-1) @ prototypes.T


def collection(n=600, seed=70):
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, CLASSES, (n,), generator=g)
    centre = 1.5 * torch.randn(CLASSES, 12, generator=g)
    captions = torch.randint(0, 40, (CLASSES, 6), generator=g)
    return centre[kind] + torch.randn(n, 12, generator=g), kind, captions


def run_epoch(model, optimizer, features, kind):
    total = 0.0
    prototypes = model.prototypes()
    for rows in torch.randperm(len(kind)).split(30):
        loss = F.cross_entropy(model(features[rows], prototypes), kind[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    return total / len(kind)


def main():
    torch.manual_seed(7)
    features, kind, captions = collection()
    model = CaptionMatcher(captions)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        mean = run_epoch(model, optimizer, features, kind)
        print(f"epoch {epoch} loss {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
