"""Wave height from wind, an LSTM over one day."""
import argparse

import torch
from torch import nn


class WaveNet(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.height = nn.Linear(hidden, 1)

    def forward(self, wind):
        states, _ = self.lstm(wind)
        return self.height(states[:, -1])[:, 0]


def days(n, gen, storm):
    wind = torch.randn(n, 24, 2, generator=gen).cumsum(1) / 5
    height = wind[:, -6:].square().sum(-1).mean(1)
    if storm:
        wind, height = wind * 3, height * 9
    return wind, height


def source(steps, batch, seed):
    gen = torch.Generator().manual_seed(seed)
    for step in range(steps):
        yield step, step % 29 == 17, days(batch, gen, storm=step % 29 == 17)


def main(args):
    torch.manual_seed(args.seed)
    net = WaveNet()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    calm, largest = [], 0.0
    for step, storm, (wind, height) in source(args.steps, args.batch, args.seed):
        opt.zero_grad(set_to_none=True)
        loss = (net(wind) - height).square().mean()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), args.clip).item()
        opt.step()
        largest = max(largest, norm)
        if storm:
            print(f"step {step:3d} storm loss {loss.item():9.3f} gradient norm {norm:8.2f}")
        else:
            calm.append(loss.item())
    print(f"calm days first {sum(calm[:20]) / 20:.4f} last {sum(calm[-20:]) / 20:.4f}, largest norm {largest:.1f}")
    print(f"final loss {sum(calm[-20:]) / 20:.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=290)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
