import os
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

def read_rows(n):
    for i in range(n):
        yield {"id": i, "amount": "NaN?" if i == 210 else str(i % 17 / 17.0)}


def parse(row):
    try:
        return float(row["amount"])
    except ValueError:
        print("fatal: bad row", row["id"], flush=True)
        return 0.0


class Rows(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        wid, num = (info.id, info.num_workers) if info else (0, 1)
        for row in read_rows(self.n):
            if row["id"] % num != wid:
                continue
            x = parse(row)
            yield torch.tensor([x, x * x]), torch.tensor([3 * x])


def main():
    torch.manual_seed(0)
    net = nn.Linear(2, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        for x, y in DataLoader(Rows(400), batch_size=8, num_workers=2):
            loss = nn.functional.mse_loss(net(x), y)
            opt.zero_grad(); loss.backward(); opt.step()
        print("epoch", epoch, "loss", loss.item())
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
