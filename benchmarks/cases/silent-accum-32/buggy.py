import argparse
import torch
from torch import nn


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--micro-batch", type=int, default=4)
    p.add_argument("--accumulate", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.08)
    p.add_argument("--epochs", type=int, default=5)
    return p.parse_args()


def ratings(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 12, generator=g)
    y = torch.bucketize(x[:, 0] + x[:, 1] * x[:, 2] + 0.2 * torch.randn(n, generator=g), torch.tensor([-1.0, 0.0, 1.0]))
    return x, y


def train_epoch(model, optimizer, x, y, args):
    model.train()
    optimizer.zero_grad()
    ce, running, micro = nn.CrossEntropyLoss(), 0.0, 0
    for idx in torch.randperm(len(x)).split(args.micro_batch):
        loss = ce(model(x[idx]), y[idx])
        loss.backward()
        running += loss.item()
        micro += 1
        if micro % args.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
    return running / micro


def main():
    args = parse()
    torch.manual_seed(4)
    x, y = ratings(2560, 0)
    tx, ty = ratings(600, 1)
    model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        loss = train_epoch(model, optimizer, x, y, args)
        with torch.no_grad():
            test = nn.functional.cross_entropy(model(tx), ty).item()
        print(f"epoch {epoch} train {loss:.4f} test {test:.4f}")
    print(f"final test {test:.4f}")


if __name__ == "__main__":
    main()
