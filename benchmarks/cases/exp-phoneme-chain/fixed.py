"""Linear-chain CRF over phoneme frames."""
import torch
from torch import nn

PHONES = 6


class ChainCRF(nn.Module):
    def __init__(self, labels):
        super().__init__()
        self.transition = nn.Parameter(torch.zeros(labels, labels))

    def partition(self, emission):
        alpha = emission[:, 0]
        for t in range(1, emission.shape[1]):
            reach = (alpha[:, :, None] + self.transition).logsumexp(1)
            alpha = reach + emission[:, t]
        return alpha.logsumexp(-1)

    def path(self, emission, tags):
        score = emission.gather(-1, tags[..., None]).squeeze(-1).sum(1)
        return score + self.transition[tags[:, :-1], tags[:, 1:]].sum(1)

    def forward(self, emission, tags):
        return (self.partition(emission) - self.path(emission, tags)).mean()


class Frames(nn.Module):
    def __init__(self, inputs=10, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, PHONES))

    def forward(self, x):
        return self.net(x)


def utterances(seed=3):
    g = torch.Generator().manual_seed(seed)
    code = 2 * torch.randn(PHONES, 10, generator=g)
    lengths = [8, 10, 9, 12, 11, 8, 10, 9, 46, 10, 12, 8]
    for epoch in range(12):
        for length in lengths:
            tags = torch.randint(0, PHONES, (12, length), generator=g)
            yield epoch, code[tags] + 0.5 * torch.randn(12, length, 10, generator=g), tags


def main():
    torch.manual_seed(0)
    frames, crf = Frames(), ChainCRF(PHONES)
    opt = torch.optim.Adam([*frames.parameters(), *crf.parameters()], lr=5e-3)
    mean, seen = 0.0, -1
    for epoch, x, tags in utterances():
        loss = crf(frames(x), tags) / tags.shape[1]
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch != seen:
            print(f"epoch {epoch} loss {loss.item():.4f}")
            seen = epoch
        mean = 0.9 * mean + 0.1 * loss.item()
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
