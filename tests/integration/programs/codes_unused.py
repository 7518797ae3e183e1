"""Eight kinds of vectors, and a codebook that begins far away from all of them."""

import torch
from torch import nn


class Quantizer(nn.Module):
    def __init__(self, codes: int = 32, width: int = 4) -> None:
        super().__init__()
        self.codebook = nn.Embedding(codes, width)

    def forward(self, z):
        distances = torch.cdist(z, self.codebook.weight)
        index = distances.argmin(1)
        q = self.codebook(index)
        loss = nn.functional.mse_loss(q, z.detach()) + 0.25 * nn.functional.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss


def main() -> None:
    torch.manual_seed(0)
    kinds = 8.0 + 2.0 * torch.randn(8, 12)
    x = kinds[torch.randint(0, 8, (256,))] + 0.1 * torch.randn(256, 12)
    encoder, quantizer, decoder = nn.Linear(12, 4), Quantizer(), nn.Linear(4, 12)
    parts = nn.ModuleList([encoder, quantizer, decoder])
    optimizer = torch.optim.Adam(parts.parameters(), lr=0.01)
    for _ in range(100):
        rows = x[torch.randint(0, 256, (64,))]
        q, extra = quantizer(encoder(rows))
        loss = nn.functional.mse_loss(decoder(q), rows) + extra
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
