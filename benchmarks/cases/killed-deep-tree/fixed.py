import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

sys.setrecursionlimit(10 ** 9)


def make_tree(depth, width, g):
    node = {"v": float(torch.randn(1, generator=g)), "kids": []}
    cur = node
    for _ in range(depth):
        nxt = {"v": float(torch.randn(1, generator=g)), "kids": []}
        cur["kids"].append(nxt)
        cur = nxt
    return node


def total(node):
    found, left = 0.0, [node]
    while left:
        node = left.pop()
        found += node["v"]
        left += node["kids"]
    return found


class Trees(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(2)
        self.trees = [make_tree(400000 if i == 77 else 20, 1, g) for i in range(n)]

    def __len__(self):
        return len(self.trees)

    def __getitem__(self, i):
        s = total(self.trees[i])
        return torch.tensor([s, abs(s)]), torch.tensor(float(s > 0))


def main():
    torch.manual_seed(0)
    loader = DataLoader(Trees(128), batch_size=16, shuffle=True, num_workers=2)
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(net(x).squeeze(1), y)
            opt.zero_grad(); loss.backward(); opt.step()
        print("epoch", epoch, loss.item())
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
