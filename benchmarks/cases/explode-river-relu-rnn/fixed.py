"""Water level of a river from hourly rain, a recurrent net after Le et al."""
import torch
from torch import nn

HOURS = 120


class River(nn.Module):
    def __init__(self, gauges=4, hidden=48):
        super().__init__()
        self.cell = nn.RNN(gauges, hidden, nonlinearity="relu", batch_first=True)
        self.level = nn.Linear(hidden, 1)
        nn.init.eye_(self.cell.weight_hh_l0)
        nn.init.normal_(self.cell.weight_ih_l0, std=0.05)
        nn.init.zeros_(self.cell.bias_hh_l0)
        nn.init.zeros_(self.cell.bias_ih_l0)

    def forward(self, rain):
        states, _ = self.cell(rain)
        return self.level(states[:, -1]).squeeze(-1)


class Storms:
    def __init__(self, batch, seed):
        self.batch = batch
        self.g = torch.Generator().manual_seed(seed)
        self.weights = torch.tensor([0.5, 0.3, 0.15, 0.05])

    def __iter__(self):
        return self

    def __next__(self):
        rain = torch.randn(self.batch, HOURS, 4, generator=self.g).relu()
        memory = torch.linspace(0, 1, HOURS)[None, :, None]
        level = (rain * memory).mean(1) @ self.weights * 10 - 2
        return rain, level


def update(model, optimizer, rain, level):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(rain), level)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    return loss.item()


def main(steps=150):
    torch.manual_seed(7)
    model = River()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    recent = []
    for step, (rain, level) in zip(range(steps), Storms(16, seed=2)):
        recent.append(update(model, optimizer, rain, level))
        if step % 25 == 0:
            print(f"step {step} loss {recent[-1]:.4f}")
    print(f"final loss {sum(recent[-20:]) / 20:.4f}")


if __name__ == "__main__":
    main()
