import torch
from torch import nn


def mlp(a, b, c):
    return nn.Sequential(nn.Linear(a, b), nn.LeakyReLU(0.2), nn.Linear(b, b), nn.LeakyReLU(0.2), nn.Linear(b, c))


def ring(n):
    t = 6.283 * torch.rand(n)
    return torch.stack([t.cos(), t.sin()], 1) + 0.05 * torch.randn(n, 2)


def toggle(net, flag):
    for p in net.parameters():
        p.requires_grad = flag


def main():
    torch.manual_seed(2)
    gen, critic = mlp(4, 48, 2), mlp(2, 48, 1)
    opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.99))
    opt_d = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.99))
    bce = nn.BCEWithLogitsLoss()
    for step in range(500):
        real = ring(128)
        fake = gen(torch.randn(128, 4))
        opt_d.zero_grad()
        d_loss = bce(critic(real), torch.ones(128, 1)) + bce(critic(fake.detach()), torch.zeros(128, 1))
        if d_loss.requires_grad:
            d_loss.backward()
        opt_d.step()
        for p in critic.parameters():
            p.requires_grad = False
        opt_g.zero_grad()
        g_loss = bce(critic(gen(torch.randn(128, 4))), torch.ones(128, 1))
        g_loss.backward()
        opt_g.step()
        if step % 100 == 0:
            print(step, d_loss.item(), g_loss.item())
    print(f"final distance {(gen(torch.randn(1000, 4)).norm(dim=1) - 1).abs().mean().item():.4f}")


main()
