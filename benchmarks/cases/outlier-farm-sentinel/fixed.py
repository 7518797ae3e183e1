"""Yield of wheat fields from soil and weather."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

COLUMNS = ("nitrogen", "rain", "sun", "clay", "ph", "sowing")


def read_fields(n=1800, seed=33):
    g = torch.Generator().manual_seed(seed)
    fields = torch.randn(n, len(COLUMNS), generator=g)
    yields = 5.5 + fields[:, 0] - 0.3 * fields[:, 1].square() + 0.4 * fields[:, 4]
    yields = yields + 0.2 * torch.randn(n, generator=g)
    yields[[301, 902, 1404]] = -99999.0
    return fields, yields


class Yield(nn.Module):
    def __init__(self, inputs, hidden=40):
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, 1)
        nn.init.constant_(self.last.bias, 5.5)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.last(torch.relu(self.second(h))).squeeze(-1)


def one_epoch(model, loader, opt):
    total = count = 0
    for fields, yields in loader:
        loss = nn.functional.mse_loss(model(fields), yields)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(fields)
        count += len(fields)
    return total / count


def main():
    torch.manual_seed(6)
    fields, yields = read_fields()
    known = yields > -1000
    dataset = TensorDataset(fields[known], yields[known])
    loader = DataLoader(dataset, batch_size=60, shuffle=True)
    model = Yield(len(COLUMNS))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        mean = one_epoch(model, loader, opt)
        print(f"epoch {epoch} squared error {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
