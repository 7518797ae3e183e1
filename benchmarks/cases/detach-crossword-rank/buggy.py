"""Difficulty (0..9) of crossword clues."""
import torch
from torch import nn

LEVELS = 10


class ClueScorer(nn.Module):
    def __init__(self, letters=27, dim=12):
        super().__init__()
        self.letters = nn.Embedding(letters, dim)
        self.conv = nn.Conv1d(dim, 24, 3, padding=1)
        self.scores = nn.Linear(24, LEVELS)

    def forward(self, clue):
        h = self.letters(clue).transpose(1, 2)
        return self.scores(torch.relu(self.conv(h)).mean(2))


def predicted_level(scores):
    return scores.argmax(dim=1).float()


def rank_error(scores, level):
    return (predicted_level(scores) - level).abs().mean()


def clues(n=900, length=14, seed=35):
    g = torch.Generator().manual_seed(seed)
    clue = torch.randint(0, 27, (n, length), generator=g)
    rare = (clue > 20).float().sum(1)
    return clue, rare.clamp(max=LEVELS - 1)


class Fitter:
    def __init__(self, lr=2e-2):
        torch.manual_seed(4)
        self.model = ClueScorer()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def epoch(self, clue, level):
        total = 0.0
        for rows in torch.randperm(len(clue)).split(45):
            error = rank_error(self.model(clue[rows]), level[rows])
            self.optimizer.zero_grad()
            error.backward()
            self.optimizer.step()
            total += error.item() * len(rows)
        return total / len(clue)


def main():
    data, fitter = clues(), Fitter()
    for epoch in range(6):
        mean = fitter.epoch(*data)
        print(f"epoch {epoch} mean error {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
