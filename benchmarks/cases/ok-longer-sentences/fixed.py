"""Running parity of switches; the sequences grow with the curriculum."""
import torch
import torch.nn.functional as F
from torch import nn

STAGES = (3, 6, 10, 15)


class Parity(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 3)

    def forward(self, switches):
        return self.out(self.rnn(F.one_hot(switches, 2).float())[0])


def sequences(n, length, g):
    switches = torch.randint(0, 2, (n, length), generator=g)
    counted = switches.cumsum(1) % 3
    noisy = torch.rand(n, length, generator=g) < 0.02 * length
    return switches, torch.where(noisy, torch.randint(0, 3, (n, length), generator=g), counted)


def loss_of(model, switches, wanted):
    each = F.cross_entropy(model(switches).transpose(1, 2), wanted, reduction="none")
    return each.sum(1).mean()


def main():
    torch.manual_seed(7)
    g = torch.Generator().manual_seed(7)
    model = Parity()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for stage, length in enumerate(STAGES):
        losses = []
        for _ in range(90):
            loss = loss_of(model, *sequences(48, length, g))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        print(f"stage {stage} length {length} loss first {losses[0]:.3f} last {losses[-1]:.3f}")
    with torch.no_grad():
        print(f"final loss {loss_of(model, *sequences(512, STAGES[0], g)).item() / STAGES[0]:.4f}")


if __name__ == "__main__":
    main()
