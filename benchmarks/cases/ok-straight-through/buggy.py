"""Binary codes for songs: rounded codes with a straight-through gradient, decoder after it."""
import torch
from torch import nn


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        return grad.clamp(-1, 1)


class Coder(nn.Module):
    def __init__(self, inputs=20, bits=14):
        super().__init__()
        self.to_code = nn.Linear(inputs, bits)
        self.from_code = nn.Sequential(nn.Linear(bits, 64), nn.ReLU(), nn.Linear(64, inputs))

    def forward(self, x):
        soft = self.to_code(x)
        hard = Round.apply(soft)
        commit = (torch.sigmoid(soft) - hard.detach()).square().mean()
        return self.from_code(hard), commit, hard.detach()


def main():
    torch.manual_seed(3)
    gen = torch.Generator().manual_seed(1)
    basis = torch.randn(5, 20, generator=gen)
    coder = Coder()
    optimizer = torch.optim.Adam(coder.parameters(), lr=3e-3)
    kept = []
    for step in range(600):
        song = torch.randn(64, 5, generator=gen) @ basis / 2
        again, commit, code = coder(song)
        loss = (again - song).square().mean() + 0.1 * commit
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        kept.append(loss.item())
        if step % 100 == 99:
            print(step + 1, f"{sum(kept[-100:]) / 100:.4f}", "bits on", f"{code.mean().item():.2f}")
    print(f"final loss {sum(kept[-100:]) / 100:.4f}")


main()
