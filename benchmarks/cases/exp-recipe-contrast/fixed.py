"""Contrastive alignment of recipes and dishes; temperature after the CLIP paper."""
import torch
import torch.nn.functional as F
from torch import nn, Tensor


def tower(inputs: int, outputs: int = 24) -> nn.Module:
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, outputs))


def pairs(batch: int, seed: int = 9):
    gen = torch.Generator().manual_seed(seed)
    to_text = torch.randn(8, 20, generator=gen)
    to_dish = torch.randn(8, 15, generator=gen)
    while True:
        latent = torch.randn(batch, 8, generator=gen)
        yield latent @ to_text, latent @ to_dish


def soft_assignment(logits: Tensor) -> Tensor:
    weight = torch.exp(logits - logits.amax(dim=1, keepdim=True))
    return weight / weight.sum(dim=1, keepdim=True)


def alignment_loss(a: Tensor, b: Tensor, temperature: float) -> Tensor:
    a, b = F.normalize(a, dim=1), F.normalize(b, dim=1)
    own = torch.arange(len(a))
    p = soft_assignment(a @ b.T / temperature)
    q = soft_assignment(b @ a.T / temperature)
    return -0.5 * (torch.log(p[own, own] + 1e-8).mean() + torch.log(q[own, own] + 1e-8).mean())


def train(steps: int = 400, temperature: float = 0.0095) -> float:
    torch.manual_seed(2)
    text, dish = tower(20), tower(15)
    parameters = [*text.parameters(), *dish.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=3e-3)
    stream = pairs(32)
    for step in range(1, steps + 1):
        words, pixels = next(stream)
        loss = alignment_loss(text(words), dish(pixels), temperature)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, f"{loss.item():.4f}")
    return loss.item()


print(f"final loss {train():.4f}")
