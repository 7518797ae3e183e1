import argparse

import torch
from torch import nn
from torch.nn.functional import mse_loss


class Gate(nn.Module):
    """Top-k gate: weights of the k best experts, renormalised; zero for the others."""

    def __init__(self, width, experts, k):
        super().__init__()
        self.score = nn.Linear(width, experts)
        self.k = k

    def forward(self, x):
        probs = self.score(x).softmax(-1)
        best = probs.topk(self.k, dim=-1).indices
        chosen = torch.zeros_like(probs).scatter(-1, best, 1.0)
        kept = probs * chosen
        return kept / kept.sum(-1, keepdim=True)


class Experts(nn.Module):
    def __init__(self, width, experts=8, k=2, hidden=24):
        super().__init__()
        self.gate = Gate(width, experts, k)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, hidden), nn.SiLU(), nn.Linear(hidden, 1)) for _ in range(experts)
        )

    def forward(self, x):
        gates = self.gate(x)
        answers = torch.cat([expert(x) for expert in self.experts], dim=-1)
        return (gates * answers).sum(-1), gates


def gate_entropy(gates):
    plogp = gates * gates.clamp_min(1e-9).log()
    return -plogp.sum(-1).mean()


def kiln_readings(n, seed):
    """Temperature response of a kiln with a few regimes."""
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 5, generator=g) * 2 - 1
    regime = (x[:, 0] > 0).float() * 2 + (x[:, 1] > 0.3).float()
    y = torch.sin(3 * x[:, 2] + regime) + 0.5 * regime * x[:, 3] + 0.05 * torch.randn(n, generator=g)
    return x, y


def fit(args):
    torch.manual_seed(args.seed)
    x, y = kiln_readings(4000, seed=1)
    net = Experts(x.shape[1])
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        weight = args.balance if epoch >= args.balance_from else 0.0
        seen = 0.0
        for i in range(0, len(x), args.batch):
            guess, gates = net(x[i:i + args.batch])
            loss = mse_loss(guess, y[i:i + args.batch])
            if weight:
                loss = loss - weight * gate_entropy(gates)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            seen += loss.item()
        share = gates.detach().mean(0)
        mean = seen / (len(x) // args.batch)
        print(f"epoch {epoch} loss {mean:.4f} busiest expert {share.max():.2f} balance weight {weight}")
    return mean


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch", type=int, default=80)
    parser.add_argument("--balance", type=float, default=0.01)
    parser.add_argument("--balance-from", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    print(f"final loss {fit(parser.parse_args()):.4f}")
