import os

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, size=24, code=4):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(size, 48), nn.ReLU(), nn.Linear(48, 2 * code))
        self.decoder = nn.Sequential(nn.Linear(code, 48), nn.ReLU(), nn.Linear(48, size))

    def forward(self, x):
        mean, spread = self.encoder(x).chunk(2, dim=-1)
        z = mean + torch.randn_like(mean) * (0.5 * spread).exp()
        return self.decoder(z), mean, spread


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    mix = torch.randn(4, 24, generator=torch.Generator().manual_seed(11))
    return torch.tanh(torch.randn(n, 4, generator=g) @ mix) + 0.05 * torch.randn(n, 24, generator=g)


def terms(model, x):
    out, mean, spread = model(x)
    reconstruction = nn.functional.mse_loss(out, x)
    divergence = -0.5 * (1 + spread - mean.pow(2) - spread.exp()).mean()
    return reconstruction, divergence


def main():
    torch.manual_seed(int(os.environ.get("SEED", "0")))
    train, held_out = make(1500, 1), make(400, 2)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=6, gamma=0.3)
    for epoch in range(12):
        for rows in torch.randperm(len(train)).split(50):
            optimizer.zero_grad()
            reconstruction, divergence = terms(model, train[rows])
            loss = reconstruction + 0.01 * divergence
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(f"epoch {epoch} reconstruction {reconstruction.item():.4f} divergence {divergence.item():.4f}")
    with torch.no_grad():
        print(f"final loss {terms(model, held_out)[0].item():.4f}")


main()
