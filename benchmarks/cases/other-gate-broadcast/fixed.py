"""Response to a drug: trunk over the patient, gated effect of the dose."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class DoseResponse(nn.Module):
    def __init__(self, markers, width=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(markers, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        self.gate = nn.Linear(markers, 1)
        self.strength = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
        self.effect = nn.Linear(width + 1, 1)

    def forward(self, x, dose):
        gate = torch.sigmoid(self.gate(x))
        strength = self.strength(dose)
        gated = gate * strength
        return self.effect(torch.cat([self.trunk(x), gated], dim=1)).squeeze(1)


def trial(n=1400, markers=7, seed=8):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, markers, generator=g)
    dose = 3 * torch.rand(n, 1, generator=g)
    reacts = torch.sigmoid(2 * x[:, 0])
    y = reacts * torch.log1p(dose[:, 0]) + 0.3 * x[:, 1].relu() + 0.1 * torch.randn(n, generator=g)
    return x, dose, y


def main():
    torch.manual_seed(3)
    data = trial()
    loader = DataLoader(TensorDataset(*data), batch_size=64, shuffle=True)
    model = DoseResponse(data[0].shape[1])
    optimizer = torch.optim.RAdam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        losses = []
        for x, dose, y in loader:
            loss = (model(x, dose) - y).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
