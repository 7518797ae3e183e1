"""Denoise short magnitude spectrograms with a sigmoid mask and a compressed spectral loss."""
import sys

import torch
from torch import nn

BINS, FRAMES, CLIPS = 33, 20, 480
COMPRESS = 0.3


def speech(n, gen):
    """Clean and noisy magnitudes; some clips start with digital silence."""
    pitch = torch.rand(n, 1, 1, generator=gen) * 0.25 + 0.15
    bins = torch.arange(BINS)[None, :, None] / BINS
    swell = torch.rand(n, 1, FRAMES, generator=gen) + 0.1
    clean = swell * torch.cos(6.2832 * bins / pitch).clamp(min=0) * torch.exp(-2.0 * bins)
    noisy = clean + 0.25 * torch.rand(n, BINS, FRAMES, generator=gen)
    for clip in torch.randperm(n, generator=gen)[:3].tolist():
        clean[clip, :, :4] = 0.0
        noisy[clip, :, :4] = 0.0
    return clean, noisy


def compressed(magnitude):
    return magnitude.clamp_min(1e-5).pow(COMPRESS)


def spectral_loss(estimate, clean):
    return (compressed(estimate) - compressed(clean)).square().mean()


class MaskNet(nn.Module):
    def __init__(self, channels=48):
        super().__init__()
        self.stack = nn.ModuleList([
            nn.Conv1d(BINS, channels, 3, padding=1),
            nn.Conv1d(channels, channels, 3, padding=2, dilation=2),
            nn.Conv1d(channels, BINS, 1),
        ])

    def forward(self, noisy):
        h = noisy
        for layer in self.stack[:-1]:
            h = nn.functional.leaky_relu(layer(h), 0.1)
        return torch.sigmoid(self.stack[-1](h))


def epochs(net, clean, noisy, opt, count, batch=24):
    order = torch.Generator().manual_seed(21)
    for epoch in range(count):
        total = 0.0
        for picks in torch.randperm(CLIPS, generator=order).split(batch):
            estimate = net(noisy[picks]) * noisy[picks]
            loss = spectral_loss(estimate, clean[picks])
            for p in net.parameters():
                p.grad = None
            loss.backward()
            opt.step()
            total += loss.item() * len(picks)
        yield epoch, total / CLIPS


def main():
    torch.manual_seed(14)
    clean, noisy = speech(CLIPS, torch.Generator().manual_seed(2))
    net = MaskNet()
    opt = torch.optim.Adamax(net.parameters(), lr=3e-3)
    for epoch, mean in epochs(net, clean, noisy, opt, count=8):
        sys.stdout.write(f"epoch {epoch} compressed mse {mean:.5f}\n")
    print(f"final loss {mean:.5f}")


if __name__ == "__main__":
    main()
