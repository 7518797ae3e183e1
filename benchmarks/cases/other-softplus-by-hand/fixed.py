"""Mean waiting time at a counter, exponential likelihood."""
import torch
from torch import nn


def queues(n, seed):
    g = torch.Generator().manual_seed(seed)
    people = torch.randint(0, 25, (n,), generator=g).float()
    clerks = torch.randint(1, 5, (n,), generator=g).float()
    hour = 8 + 10 * torch.rand(n, generator=g)
    mean = 4 + 45 * people / clerks
    wait = mean * (0.75 + 0.5 * torch.rand(n, generator=g))
    return torch.stack([people / 10, clerks / 4, (hour - 13) / 5, people / clerks / 5], dim=1), wait


def positive(x):
    return nn.functional.softplus(x)


class WaitModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(4, 32)
        self.mean = nn.Linear(32, 1)

    def forward(self, x):
        return positive(self.mean(torch.relu(self.lift(x)))).squeeze(-1) + 1.0


def relative_error(model, x, wait):
    with torch.no_grad():
        return ((model(x) - wait).abs() / wait).mean().item()


def main():
    torch.manual_seed(1)
    x, wait = queues(3000, seed=2)
    model = WaitModel()
    adam = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(10):
        losses = []
        for rows in torch.randperm(len(x)).split(100):
            mean = model(x[rows])
            loss = (mean - wait[rows]).abs().div(wait[rows]).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} error {relative_error(model, x, wait):.3f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
