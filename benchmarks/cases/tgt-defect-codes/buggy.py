"""Weld inspection: defect code from ultrasonic features."""
import argparse
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

# code 3 ("slag, old norm") is not given any more
CODES = np.array([0, 1, 2, 4, 5, 6])
SHARE = np.array([0.55, 0.16, 0.12, 0.1, 0.064, 0.006])


def scan(n, seed):
    rng = np.random.default_rng(seed)
    codes = rng.choice(CODES, n, p=SHARE)
    pattern = np.random.default_rng(77).normal(0, 1.6, (CODES.max() + 1, 12))
    return (pattern[codes] + rng.normal(0, 1, (n, 12))).astype(np.float32), codes


class Inspector:
    def __init__(self, args):
        torch.manual_seed(args.seed)
        features, codes = scan(args.welds, args.seed)
        split = int(0.85 * len(codes))
        train_codes = codes[:split]
        n_classes = len(np.unique(train_codes))
        self.net = nn.Sequential(nn.Linear(features.shape[1], args.hidden), nn.Tanh(), nn.Linear(args.hidden, n_classes))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=args.lr, momentum=0.8)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        train = TensorDataset(torch.from_numpy(features[:split]), torch.from_numpy(train_codes))
        sampler = WeightedRandomSampler(np.where(train_codes == 0, 0.5, 1.0), split)
        self.loader = DataLoader(train, batch_size=args.batch, sampler=sampler)
        self.held_out = torch.from_numpy(features[split:]), torch.from_numpy(codes[split:])

    def accuracy(self):
        x, y = self.held_out
        with torch.no_grad():
            return (self.net(x).argmax(1) == y).float().mean().item()

    def epoch(self):
        losses = []
        for i, (x, y) in enumerate(self.loader):
            loss = self.criterion(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
            if i % 10 == 0:
                print(f"  {i:3d} loss {loss.item():.4f}")
        return float(np.mean(losses))


def main(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--welds", type=int, default=2400)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--batch", type=int, default=50)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args(argv)
    inspector = Inspector(args)
    for epoch in range(args.epochs):
        loss = inspector.epoch()
        print(f"epoch {epoch} loss {loss:.4f} held-out accuracy {inspector.accuracy():.3f}")
    print(f"final loss {loss:.4f}")


if __name__ == "__main__":
    main()
