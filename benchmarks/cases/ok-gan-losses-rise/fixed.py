"""A GAN for the shape of heart beats."""
import torch
import torch.nn.functional as F
from torch import nn

NOISE, SAMPLES = 6, 16


def network(*widths):
    parts = []
    for a, b in zip(widths, widths[1:]):
        parts += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*parts[:-1])


def beats(n, g):
    t = torch.linspace(-1, 1, SAMPLES)
    place = 0.3 * torch.randn(n, 1, generator=g)
    return torch.exp(-8 * (t - place) ** 2)


def critic_step(critic, generator, optimizer, real):
    with torch.no_grad():
        fake = generator(torch.randn(len(real), NOISE))
    loss = F.softplus(-critic(real)).mean() + F.softplus(critic(fake)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def generator_step(critic, generator, optimizer, n):
    loss = F.softplus(-critic(generator(torch.randn(n, NOISE)))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def distance(generator, real):
    fake = generator(torch.randn(len(real), NOISE))
    return ((fake.mean(0) - real.mean(0)).abs().mean() + (fake.std(0) - real.std(0)).abs().mean()).item()


def main():
    torch.manual_seed(2)
    g = torch.Generator().manual_seed(2)
    generator, critic = network(NOISE, 48, 48, SAMPLES), network(SAMPLES, 48, 48, 1)
    opt_g = torch.optim.Adam(generator.parameters(), lr=5e-4, betas=(0.5, 0.99))
    opt_c = torch.optim.Adam(critic.parameters(), lr=4e-3, betas=(0.5, 0.99))
    for step in range(400):
        loss_c = critic_step(critic, generator, opt_c, beats(64, g))
        loss_g = generator_step(critic, generator, opt_g, 64)
        if step % 80 == 0:
            print(f"step {step} critic {loss_c:.3f} generator {loss_g:.3f} distance {distance(generator, beats(512, g)):.3f}")
    print(f"final loss {distance(generator, beats(512, g)):.4f}")


if __name__ == "__main__":
    main()
