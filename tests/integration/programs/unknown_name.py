import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

TABLE = {"a": 0, "b": 1}


class D(Dataset):
    def __init__(self):
        self.names = ["a" if i % 2 else "b" for i in range(100)]
        self.names[61] = "c"

    def __len__(self):
        return 100

    def __getitem__(self, i):
        return torch.ones(4) * (i % 2), TABLE[self.names[i]]


def main():
    net = nn.Linear(4, 2)
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in DataLoader(D(), batch_size=10, num_workers=2):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    main()
