"""Pitch of a choir voice per frame; silent frames do not count."""
import torch
from torch import nn


class PitchNet(nn.Module):
    def __init__(self, bins=20, hidden=32):
        super().__init__()
        self.conv = nn.Conv1d(bins, hidden, 5, padding=2)
        self.pitch = nn.Conv1d(hidden, 1, 1)

    def forward(self, spectrum):
        return self.pitch(torch.relu(self.conv(spectrum))).squeeze(1)


class MaskedError(nn.Module):
    def __init__(self, floor=0.05):
        super().__init__()
        self.floor = floor

    def silent_frames(self, spectrum):
        return spectrum.mean(1) < self.floor

    def forward(self, predicted, pitch, spectrum):
        silent = self.silent_frames(spectrum)
        error = (predicted - pitch).abs() * (1 - silent)
        return error.sum() / (1 - silent).sum()


def voices(n, g, bins=20, frames=30):
    pitch = torch.rand(n, 1, generator=g) * 14 + 3
    pitch = (pitch + torch.randn(n, frames, generator=g).cumsum(1) * 0.2).clamp(0, bins - 1)
    place = torch.arange(bins)[None, :, None]
    spectrum = torch.exp(-0.5 * (place - pitch[:, None]) ** 2)
    spectrum[:, :, :3] *= 0.01
    return spectrum, pitch / bins


def main():
    torch.manual_seed(3)
    g = torch.Generator().manual_seed(30)
    model, criterion = PitchNet(), MaskedError()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    recent = []
    for step in range(150):
        spectrum, pitch = voices(16, g)
        loss = criterion(model(spectrum), pitch, spectrum)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent = [*recent[-19:], loss.item()]
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.4f}")
    print(f"final loss {sum(recent) / len(recent):.4f}")


if __name__ == "__main__":
    main()
