"""Spam or not, from counts of words; large gradients are skipped."""
import torch
from torch import nn


class SpamNet(nn.Module):
    def __init__(self, words=60, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(words, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, 1))

    def forward(self, counts):
        return self.net(counts).squeeze(1)


def gradient_norm(model):
    norms = [p.grad.norm() for p in model.parameters() if p.grad is not None]
    return torch.stack(norms).norm().item()


class GuardedStep:
    """No step for gradients above the limit."""

    def __init__(self, model, lr, limit=20.0):
        self.model, self.limit, self.skipped = model, limit, 0
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.scaler = torch.amp.GradScaler("cpu")

    def __call__(self, loss):
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        norm = gradient_norm(self.model)
        if norm > self.limit:
            self.skipped += 1
        else:
            self.scaler.step(self.optimizer)
        self.scaler.update()


def mails(n=1200, words=60, seed=44):
    g = torch.Generator().manual_seed(seed)
    spam = torch.randint(0, 2, (n,), generator=g)
    rate = 0.5 + 0.5 * torch.rand(2, words, generator=g)
    return torch.poisson(rate[spam], generator=g), spam.float()


def main():
    torch.manual_seed(9)
    counts, spam = mails()
    model = SpamNet()
    step = GuardedStep(model, lr=0.05)
    for epoch in range(8):
        losses, step.skipped = [], 0
        for rows in torch.randperm(len(counts)).split(40):
            with torch.autocast("cpu", dtype=torch.float16):
                logit = model(counts[rows])
            loss = nn.functional.binary_cross_entropy_with_logits(logit.float(), spam[rows])
            step(loss)
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} large gradients {step.skipped}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
