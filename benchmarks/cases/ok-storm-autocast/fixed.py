"""Wave heights: bfloat16 autocast over float32 weights, a few storms in the data."""
import torch
from torch import nn


class Sea(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(10, 64), nn.Linear(64, 64), nn.Linear(64, 1)

    def forward(self, x):
        h = torch.nn.functional.gelu(self.a(x))
        h = h + torch.nn.functional.gelu(self.b(h))
        return self.c(h).squeeze(1)


def hours(gen, stormy):
    x = torch.randn(64, 10, generator=gen) * (3.0 if stormy else 1.0)
    return x, x[:, 0] * x[:, 1].sigmoid() + 0.5 * x[:, 2]


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(8)
    sea = Sea()
    optimizer = torch.optim.AdamW(sea.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=600)
    last = []
    for step in range(600):
        x, y = hours(gen, step % 37 == 36)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            height = sea(x)
        loss = nn.functional.huber_loss(height.float(), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(sea.parameters(), 5.0)
        optimizer.step()
        schedule.step()
        last.append(loss.item())
        if step % 100 == 99:
            print(step + 1, round(sum(last[-100:]) / 100, 4))
    print("final loss", round(sum(last[-100:]) / 100, 4))


main()
