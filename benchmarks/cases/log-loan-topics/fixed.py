"""Topic proportions of library loans: a small network predicts the share of every topic."""
from dataclasses import dataclass
import torch
from torch import nn


@dataclass
class Settings:
    topics: int = 7
    features: int = 10
    hidden: int = 48
    rounds: int = 220
    batch: int = 48


def shares(cfg, n, gen):
    x = torch.randn(n, cfg.features, generator=gen)
    w = torch.randn(cfg.features, cfg.topics, generator=torch.Generator().manual_seed(5))
    return x, torch.softmax(x @ w, dim=1)


def rounded(p):
    """Counts of 40 loans, as the library reports them."""
    return torch.round(p * 40) / torch.round(p * 40).sum(1, keepdim=True)


DIVERGENCES = {}


def divergence(name):
    def register(fn):
        DIVERGENCES[name] = fn
        return fn
    return register


@divergence("forward")
def forward_kl(target, log_pred):
    return (target * (target.clamp(min=1e-6).log() - log_pred)).sum(1).mean()


@divergence("symmetric")
def symmetric_kl(target, log_pred):
    pred = log_pred.exp()
    ratio = log_pred - target.clamp(min=1e-6).log()
    return 0.5 * ((pred - target) * ratio).sum(1).mean()


@divergence("brier")
def brier(target, log_pred):
    return (log_pred.exp() - target).square().sum(1).mean()


class TopicModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.stem = nn.Linear(cfg.features, cfg.hidden)
        self.out = nn.Linear(cfg.hidden, cfg.topics)

    def forward(self, x):
        return self.out(torch.tanh(self.stem(x))).log_softmax(-1)


def fit(cfg, criterion):
    gen = torch.Generator().manual_seed(11)
    model = TopicModel(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    level = 0.0
    for i in range(cfg.rounds):
        x, p = shares(cfg, cfg.batch, gen)
        if i >= 60:
            p = rounded(p)
        loss = criterion(p, model(x))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        level = 0.9 * level + 0.1 * loss.item()
        if i % 40 == 0:
            print(f"round {i:3d} {loss.item():.4f}")
    return level


if __name__ == "__main__":
    torch.manual_seed(1)
    print(f"final loss {fit(Settings(), DIVERGENCES['symmetric']):.4f}")
