"""Equaliser gains that turn one violin's spectrum into another's."""
import torch
from torch import nn

BANDS = 48


class Equaliser(nn.Module):
    def __init__(self, bands=BANDS):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(bands))
        self.body = nn.Parameter(torch.ones(bands))

    def forward(self, spectrum):
        return spectrum * self.gain * self.body


class Violins:
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.ratio = 1 + 0.6 * (torch.rand(BANDS, generator=self.g) - 0.5)

    def notes(self, n):
        spectrum = torch.rand(n, BANDS, generator=self.g) * 2
        return spectrum, spectrum * self.ratio


def build(dtype):
    torch.manual_seed(0)
    model = Equaliser().to(dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    return model, optimizer


def train(model, optimizer, violins, steps=400, batch=32):
    dtype = next(model.parameters()).dtype
    recent = []
    for step in range(steps):
        spectrum, wanted = violins.notes(batch)
        predicted = model(spectrum.to(dtype))
        loss = nn.functional.mse_loss(predicted.float(), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        recent = [*recent[-19:], loss.item()]
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.5f}")
    return sum(recent) / len(recent)


def main():
    model, optimizer = build(torch.float32)
    print(f"final loss {train(model, optimizer, Violins(seed=16)):.5f}")


if __name__ == "__main__":
    main()
