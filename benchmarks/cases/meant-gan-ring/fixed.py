import torch
from torch import nn
import torch.nn.functional as F


def ring(n):
    a = torch.rand(n) * 6.2832
    return torch.stack([a.cos(), a.sin()], 1) + 0.05 * torch.randn(n, 2)


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, o))


def main():
    torch.manual_seed(0)
    G, D = mlp(4, 2), mlp(2, 1)
    opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
    opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
    real_label, fake_label = torch.ones(128, 1), torch.zeros(128, 1)
    for step in range(1, 601):
        real, z = ring(128), torch.randn(128, 4)
        fake = G(z)
        d_loss = F.binary_cross_entropy_with_logits(D(real), real_label) + F.binary_cross_entropy_with_logits(D(fake.detach()), fake_label)
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

        g_loss = F.binary_cross_entropy_with_logits(D(fake), real_label)
        opt_g.zero_grad()
        g_loss.backward()
        opt_g.step()
        if step % 100 == 0:
            with torch.no_grad():
                r = G(torch.randn(1000, 4)).norm(dim=1)
            print(f"step {step} d {d_loss.item():.3f} g {g_loss.item():.3f} radius {r.mean():.3f}")
    print(f"final radius error {(r - 1).abs().mean():.4f}")


main()
