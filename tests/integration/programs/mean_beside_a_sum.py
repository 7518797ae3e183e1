"""An autoencoder whose errors are averaged over a sample's values, beside a divergence that is summed."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.tanh(torch.randn(2000, 4) @ torch.randn(4, 48)) + 0.1 * torch.randn(2000, 48)
encoder = nn.Sequential(nn.Linear(48, 64), nn.ELU(), nn.Linear(64, 12))
decoder = nn.Sequential(nn.Linear(6, 64), nn.ELU(), nn.Linear(64, 48))
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=2e-3)
for epoch in range(15):
    for rows in torch.randperm(2000).split(100):
        mean, spread = encoder(x[rows]).chunk(2, dim=1)
        again = decoder(mean + torch.randn_like(mean) * (0.5 * spread).exp())
        error = (again - x[rows]).square().mean(dim=1).mean()
        surprise = 0.5 * (mean.square() + spread.exp() - spread - 1).sum(dim=1).mean()
        loss = error + surprise
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, error.item(), surprise.item())
