"""Alarm or none from records of three generations of loggers."""
import torch
from torch import nn

LENGTH = 8


def records(n, g):
    for number in range(n):
        values = torch.randn(LENGTH, generator=g)
        alarm = float(values[:3].sum() > 0)
        if number % 40 == 7:
            yield [*values.tolist(), 0.0, 0.0], alarm
        elif number % 25 == 3:
            yield ";".join(f"{v:.4f}" for v in values.tolist()), alarm
        elif number % 3 == 0:
            yield values.tolist(), alarm
        else:
            yield ",".join(f"{v:.4f}" for v in values.tolist()), alarm


def new_format(record):
    return torch.tensor([float(v) for v in record.split(",")])


def old_format(record):
    parts = record if isinstance(record, list) else record.split(";")
    return torch.tensor([float(v) for v in parts])


def decode(record):
    try:
        return new_format(record)
    except (ValueError, AttributeError):
        return old_format(record)


class Batches:
    def __init__(self, size):
        self.size, self.left_out = size, 0

    def __call__(self, stream):
        template = torch.zeros(LENGTH)
        rows, alarms = [], []
        for record, alarm in stream:
            try:
                rows.append(template + decode(record))
            except RuntimeError as error:
                self.left_out += 1
                if self.left_out == 1:
                    print(f"left out: {error}")
                continue
            alarms.append(alarm)
            if len(rows) == self.size:
                yield torch.stack(rows), torch.tensor(alarms)
                rows, alarms = [], []


def main():
    torch.manual_seed(8)
    g = torch.Generator().manual_seed(8)
    model = nn.Sequential(nn.Linear(LENGTH, 24), nn.ReLU(), nn.Linear(24, 1), nn.Flatten(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    batches = Batches(32)
    for epoch in range(5):
        losses = []
        for values, alarm in batches(records(1000, g)):
            loss = nn.functional.binary_cross_entropy_with_logits(model(values), alarm)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} left out {batches.left_out}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
