"""A small GAN for stroke profiles of a font."""
import torch
from torch import nn

NOISE, POINTS = 8, 20


def mlp(*sizes):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


class FontGAN:
    def __init__(self, lr=1e-3):
        self.generator = mlp(NOISE, 32, 32, POINTS)
        self.critic = mlp(POINTS, 32, 32, 1)
        self.opt_g = torch.optim.Adam(self.generator.parameters(), lr=lr, betas=(0.5, 0.99))
        self.opt_d = torch.optim.Adam(self.critic.parameters(), lr=lr, betas=(0.5, 0.99))
        self.bce = nn.BCEWithLogitsLoss()

    def losses(self, real):
        fake = self.generator(torch.randn(len(real), NOISE))
        on_fake = self.critic(fake)
        on_detached = self.critic(fake.detach())
        on_real = self.critic(real)
        loss_d = self.bce(on_real, torch.ones_like(on_real)) + self.bce(on_detached, torch.zeros_like(on_fake))
        loss_g = self.bce(on_fake, torch.ones_like(on_fake))
        return loss_d, loss_g

    def step(self, real):
        loss_d, loss_g = self.losses(real)
        self.opt_d.zero_grad()
        loss_d.backward()
        self.opt_d.step()
        self.opt_g.zero_grad()
        loss_g.backward()
        self.opt_g.step()
        return loss_d.item(), loss_g.item()


def strokes(n, g):
    t = torch.linspace(0, 1, POINTS)
    bend = torch.rand(n, 1, generator=g)
    return torch.sin(3.14 * t) * (0.5 + bend) + 0.02 * torch.randn(n, POINTS, generator=g)


def main():
    torch.manual_seed(15)
    g = torch.Generator().manual_seed(15)
    gan = FontGAN()
    for step in range(200):
        loss_d, loss_g = gan.step(strokes(32, g))
        if step % 40 == 0:
            print(f"step {step} critic {loss_d:.4f} generator {loss_g:.4f}")
    print(f"final loss {loss_g:.4f}")


if __name__ == "__main__":
    main()
