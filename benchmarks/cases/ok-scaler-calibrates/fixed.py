"""Wear of brake pads from vibration bands, mixed precision."""
import torch
from torch import nn


class PadNet(nn.Module):
    def __init__(self, bands=20, hidden=48):
        super().__init__()
        self.first = nn.Linear(bands, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.last = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.first(x)))).squeeze(1)


def pads(n=1280, bands=20, seed=90):
    g = torch.Generator().manual_seed(seed)
    wear = torch.rand(n, generator=g)
    shape = torch.rand(bands, generator=g)
    return wear[:, None] * shape + 0.1 * torch.randn(n, bands, generator=g), wear


def main():
    torch.manual_seed(4)
    x, wear = pads()
    model = PadNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**30)
    skipped = 0
    for epoch in range(6):
        losses = []
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.float16):
                loss = nn.functional.mse_loss(model(x[rows]).float(), wear[rows])
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            before = scaler.get_scale()
            scaler.step(optimizer)
            scaler.update()
            skipped += scaler.get_scale() < before
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} scale {scaler.get_scale():.0f} skipped {skipped}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
