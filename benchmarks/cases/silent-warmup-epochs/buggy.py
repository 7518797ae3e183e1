import math
import torch
from torch import nn
import torch.nn.functional as F


def warmup_cosine(optimizer, warmup_steps, total_steps):
    def factor(step):
        if step < warmup_steps:
            return (step + 1) / warmup_steps
        p = (step - warmup_steps) / max(1, total_steps - warmup_steps)
        return 0.5 * (1 + math.cos(math.pi * min(1.0, p)))
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


class PatchMixer(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.embed = nn.Linear(16, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Linear(32, classes)

    def forward(self, img):
        p = img.unfold(1, 4, 4).unfold(2, 4, 4).reshape(len(img), 9, 16)
        return self.head(self.layer(self.embed(p)).mean(1))


def images(n, seed):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(5, 12, 12, generator=torch.Generator().manual_seed(9))
    y = torch.randint(0, 5, (n,), generator=g)
    return 0.5 * proto[y] + torch.randn(n, 12, 12, generator=g), y


def main():
    torch.manual_seed(0)
    x, y = images(1200, 0)
    vx, vy = images(400, 1)
    model = PatchMixer()
    epochs, bs = 8, 24
    total = epochs * len(x) // bs
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    scheduler = warmup_cosine(optimizer, 100, total)
    for epoch in range(epochs):
        for i in torch.randperm(len(x)).split(bs):
            loss = F.cross_entropy(model(x[i]), y[i])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        with torch.no_grad():
            val = F.cross_entropy(model(vx), vy).item()
        print(f"epoch {epoch} lr {scheduler.get_last_lr()[0]:.2e} val {val:.4f}")
    print(f"final val {val:.4f}")


if __name__ == "__main__":
    main()
