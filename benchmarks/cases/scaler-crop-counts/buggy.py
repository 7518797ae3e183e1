"""Count fruits in crops of aerial images, mixed precision."""
import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )
        self.count = nn.Linear(16, 1)

    def forward(self, image):
        return self.count(self.features(image)).squeeze(1)


def orchard(n=480, size=16, seed=14):
    g = torch.Generator().manual_seed(seed)
    fruit = torch.rand(n, 1, size, size, generator=g) < 0.03 * torch.rand(n, 1, 1, 1, generator=g) * 3
    image = fruit.float() + 0.1 * torch.randn(n, 1, size, size, generator=g)
    return image, fruit.flatten(1).sum(1).float()


class Loop:
    def __init__(self, model, lr, max_norm=5.0):
        self.model, self.max_norm = model, max_norm
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24)

    def step(self, image, count):
        with torch.autocast("cpu", dtype=torch.float16):
            predicted = self.model(image)
        loss = nn.functional.smooth_l1_loss(predicted.float(), count)
        self.opt.zero_grad()
        self.scaler.scale(loss).backward()
        self.finish()
        return loss.item()

    def finish(self):
        scaler = self.scaler
        scaler.unscale_(self.opt)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        scaler.step(self.opt)
        if torch.isfinite(norm):
            scaler.update()


def main():
    torch.manual_seed(1)
    image, count = orchard()
    loop = Loop(Counter(), lr=1e-2)
    for epoch in range(5):
        losses = [loop.step(image[rows], count[rows]) for rows in torch.randperm(len(image)).split(24)]
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")
    print(f"final loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
