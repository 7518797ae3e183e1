"""Embeddings of shelf photos: two photos of one product lie close together."""

import torch
import torch.nn.functional as F
from torch import nn

PRODUCTS, PIXELS = 30, 24


class Photos:
    def __init__(self, per_product, seed):
        drawn = torch.Generator().manual_seed(seed)
        looks = torch.randn(PRODUCTS, 6, generator=torch.Generator().manual_seed(8))
        camera = torch.randn(6, PIXELS, generator=torch.Generator().manual_seed(9))
        light = torch.randn(8, PIXELS, generator=torch.Generator().manual_seed(10))
        self.product = torch.arange(PRODUCTS).repeat_interleave(per_product)
        shade = torch.randn(len(self.product), 8, generator=drawn)
        self.pixels = torch.tanh((looks[self.product] @ camera + 1.5 * shade @ light) / 4)
        self.per_product = per_product

    def triplet(self, n):
        anchor = torch.randint(0, len(self.product), (n,))
        product = self.product[anchor]
        same = product * self.per_product + torch.randint(0, self.per_product, (n,))
        strange = (product + torch.randint(1, PRODUCTS, (n,))) % PRODUCTS
        other = strange * self.per_product + torch.randint(0, self.per_product, (n,))
        return self.pixels[anchor], self.pixels[same], self.pixels[other]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(PIXELS, 64), nn.GELU(), nn.Linear(64, 16))

    def forward(self, x):
        return F.normalize(self.body(x), dim=-1)


def ranking_loss(anchor, same, other, margin=0.3):
    close = (anchor * same).sum(-1)
    apart = (anchor * other).sum(-1)
    return torch.clamp(margin + apart - close, min=0).mean()


def found_first(encoder):
    gallery, asked = Photos(20, 3), Photos(6, 4)
    with torch.no_grad():
        nearest = (encoder(asked.pixels) @ encoder(gallery.pixels).T).argmax(1)
    return (gallery.product[nearest] == asked.product).float().mean().item()


torch.manual_seed(1)
photos, encoder = Photos(20, 2), Encoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
for step in range(1, 501):
    anchor, same, other = photos.triplet(96)
    loss = ranking_loss(encoder(anchor), encoder(same), encoder(other))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print(f"found first {found_first(encoder):.3f}")
