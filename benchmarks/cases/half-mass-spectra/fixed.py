"""Compound class from mass spectra, with one attention layer."""
import torch
from torch import nn

PEAKS, CLASSES = 16, 4


class PeakAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))

    def forward(self, h):
        q, k, v = self.q(h), self.k(h), self.v(h)
        scores = q @ k.transpose(1, 2) / self.dim**0.5
        return h + scores.softmax(-1) @ v


class Compound(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.peak = nn.Linear(2, dim)
        self.attention = PeakAttention(dim)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, CLASSES)

    def forward(self, peaks):
        h = self.attention(self.peak(peaks))
        return self.head(self.norm(h).mean(1))


def spectra(n, g, strong):
    kind = torch.randint(0, CLASSES, (n,), generator=g)
    mass = torch.rand(n, PEAKS, generator=g) + kind[:, None]
    intensity = torch.rand(n, PEAKS, generator=g) * 40
    if strong:
        intensity[::8] *= 100
    return torch.stack([mass, intensity], -1), kind


def main():
    torch.manual_seed(5)
    g = torch.Generator().manual_seed(5)
    model = Compound()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
    window = []
    for step in range(150):
        peaks, kind = spectra(32, g, strong=step % 25 == 24)
        with torch.autocast("cpu", dtype=torch.float16):
            logits = model(peaks.log1p())
        loss = nn.functional.cross_entropy(logits.float(), kind)
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        window = [*window[-29:], loss.item()]
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    print(f"final loss {sum(window) / len(window):.4f}")


if __name__ == "__main__":
    main()
