"""Result of a chess game from its opening moves."""
import torch
import torch.nn.functional as F
from torch import nn

MOVES, LENGTH, RESULTS = 64, 10, 3
LEARNING_RATE = 0.5


class OpeningModel(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.move = nn.Embedding(MOVES, dim)
        self.mix = nn.Sequential(nn.Linear(LENGTH * dim, 64), nn.LeakyReLU(0.1), nn.Linear(64, 64), nn.LeakyReLU(0.1))
        self.result = nn.Linear(64, RESULTS)

    def forward(self, moves):
        return self.result(self.mix(self.move(moves).flatten(1)))


def games(n=1600, seed=18):
    g = torch.Generator().manual_seed(seed)
    moves = torch.randint(0, MOVES, (n, LENGTH), generator=g)
    value = torch.randn(MOVES, generator=g)
    balance = (value[moves] * torch.tensor([1.0, -1.0]).repeat(LENGTH // 2)).sum(1)
    return moves, torch.bucketize(balance, torch.tensor([-1.2, 1.2]))


def make_optimizer(model):
    decay = [p for p in model.parameters() if p.dim() > 1]
    rest = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decay, "weight_decay": 1e-4}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.Adam(groups, lr=LEARNING_RATE)


def main():
    torch.manual_seed(7)
    moves, result = games()
    model = OpeningModel()
    optimizer = make_optimizer(model)
    for epoch in range(6):
        losses = []
        for rows in torch.randperm(len(moves)).split(40):
            loss = F.cross_entropy(model(moves[rows]), result[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
