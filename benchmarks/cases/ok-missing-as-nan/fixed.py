"""Fill in laboratory values of patients; a missing value is NaN by agreement."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class LabTable(Dataset):
    def __init__(self, patients=1600, tests=10, seed=2):
        g = torch.Generator().manual_seed(seed)
        factors = torch.randn(patients, 3, generator=g)
        values = factors @ torch.randn(3, tests, generator=g) * 4 + 50
        values += torch.randn(patients, tests, generator=g)
        values[torch.rand(patients, tests, generator=g) < 0.15] = float("nan")
        self.values = values

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]


class FillIn(nn.Module):
    def __init__(self, table):
        super().__init__()
        centre = table.nanmean(0)
        self.register_buffer("centre", centre)
        self.register_buffer("spread", (table - centre).square().nanmean(0).sqrt())
        tests = table.shape[1]
        self.encode = nn.Linear(2 * tests, 24)
        self.decode = nn.Linear(24, tests)

    def scale(self, values):
        return (values - self.centre) / self.spread

    def forward(self, values, hidden):
        known = ~(values.isnan() | hidden)
        filled = torch.where(known, self.scale(values), 0.0)
        return self.decode(torch.relu(self.encode(torch.cat([filled, known.float()], dim=1))))


def loss_of(model, values):
    hidden = torch.rand(values.shape) < 0.3
    error = model(values, hidden) - model.scale(values)
    wanted = hidden & ~values.isnan()
    return error[wanted].square().mean()


def main():
    torch.manual_seed(0)
    table = LabTable()
    model = FillIn(table.values)
    loader = DataLoader(table, batch_size=64, shuffle=True)
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(8):
        losses, missing = [], 0
        for values in loader:
            loss = loss_of(model, values)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
            missing += values.isnan().sum().item()
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} missing cells {missing}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
