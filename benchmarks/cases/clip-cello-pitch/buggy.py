"""Pitch of cello notes with a scaler and clipping, run on the CPU for the tests."""
import torch
import torch.nn.functional as F
from torch import nn


class PitchNet(nn.Module):
    def __init__(self, bins=32, pitches=10):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(bins, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, pitches))

    def forward(self, spectrum):
        return self.net(spectrum)


def notes(gen, n=64):
    pitch = torch.randint(0, 10, (n,), generator=gen)
    axis = torch.arange(32.0)
    peak = torch.exp(-0.5 * ((axis - 3 * pitch[:, None] - 1) / 1.5) ** 2)
    return peak + 0.25 * torch.randn(n, 32, generator=gen), pitch


class AmpStepper:
    """Forward, backward and update of one batch."""

    def __init__(self, model, lr, max_norm):
        self.model, self.max_norm = model, max_norm
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 14)

    def __call__(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = self.model(x)
        loss = F.cross_entropy(out.float(), y)
        self.scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()


def main():
    torch.manual_seed(9)
    gen = torch.Generator().manual_seed(10)
    step = AmpStepper(PitchNet(), lr=0.3, max_norm=1.0)
    seen = []
    for i in range(500):
        seen.append(step(*notes(gen)))
        if i % 100 == 99:
            print(f"{i + 1:4d} loss {sum(seen[-100:]) / 100:.4f}")
    print("final loss", round(sum(seen[-50:]) / 50, 4))


if __name__ == "__main__":
    main()
