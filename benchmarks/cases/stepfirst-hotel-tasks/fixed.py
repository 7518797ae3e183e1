"""Two tasks on hotel reviews: the rating and whether it is a business trip."""
import torch
import torch.nn.functional as F
from torch import nn


class SharedEncoder(nn.Module):
    def __init__(self, words=50, dim=24):
        super().__init__()
        self.embed = nn.EmbeddingBag(words, dim)
        self.hidden = nn.Linear(dim, dim)
        self.mix = nn.Linear(dim, dim)

    def forward(self, words):
        return torch.tanh(self.mix(torch.tanh(self.hidden(self.embed(words)))))


class Tasks(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.encoder = SharedEncoder(dim=dim)
        self.rating = nn.Linear(dim, 1)
        self.business = nn.Linear(dim, 1)

    def losses(self, words, rating, business):
        h = self.encoder(words)
        return {
            "rating": F.mse_loss(self.rating(h).squeeze(1), rating),
            "business": F.binary_cross_entropy_with_logits(self.business(h).squeeze(1), business),
        }


class MultiTask:
    def __init__(self, tasks, lr):
        self.tasks = tasks
        self.optimizer = torch.optim.Adam(tasks.parameters(), lr=lr)

    def step(self, batch):
        losses = self.tasks.losses(*batch)
        self.optimizer.zero_grad()
        for name, loss in losses.items():
            loss.backward(retain_graph=True)
        self.optimizer.step()
        return {name: loss.item() for name, loss in losses.items()}


def reviews(n, g):
    words = torch.randint(0, 50, (n, 12), generator=g)
    return words, (words < 20).float().mean(1) * 4, (words > 44).any(1).float()


def main():
    torch.manual_seed(6)
    g = torch.Generator().manual_seed(6)
    training = MultiTask(Tasks(), lr=5e-3)
    for step in range(200):
        seen = training.step(reviews(32, g))
        if step % 50 == 0:
            print(f"step {step} " + " ".join(f"{k} {v:.4f}" for k, v in seen.items()))
    print(f"final loss {sum(seen.values()):.4f}")


if __name__ == "__main__":
    main()
