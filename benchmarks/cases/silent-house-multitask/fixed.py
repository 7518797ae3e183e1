import torch
from torch import nn


class HouseModel(nn.Module):
    def __init__(self, n_features=20, n_kinds=6):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_features, 24), nn.ReLU(), nn.Linear(24, 12), nn.ReLU())
        self.price = nn.Linear(12, 1)
        self.kind = nn.Linear(12, n_kinds)

    def forward(self, x):
        z = self.trunk(x)
        return self.price(z).squeeze(-1), self.kind(z)


def houses(n, seed):
    g, k = torch.Generator().manual_seed(seed), torch.Generator().manual_seed(77)
    w, v = torch.randn(20, generator=k), torch.randn(20, 6, generator=k)
    x = torch.randn(n, 20, generator=g)
    price = 320 + 45 * (x @ w) + 20 * torch.randn(n, generator=g)
    kind = (x @ v + 0.3 * torch.randn(n, 6, generator=g)).argmax(1)
    return x, price, kind


PRICE_SCALE = 200.0


def compute_losses(model, x, price, kind):
    p, k = model(x)
    return {
        "price": nn.functional.mse_loss(p, price / PRICE_SCALE),
        "kind": nn.functional.cross_entropy(k, kind),
    }


def main():
    torch.manual_seed(13)
    data, held = houses(3000, 0), houses(800, 1)
    model = HouseModel()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(12):
        for idx in torch.randperm(3000).split(60):
            losses = compute_losses(model, *(d[idx] for d in data))
            total = losses["price"] + losses["kind"]
            opt.zero_grad()
            total.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        with torch.no_grad():
            acc = (model(held[0])[1].argmax(1) == held[2]).float().mean().item()
        if epoch % 3 == 2:
            print(epoch, {k: round(v.item(), 3) for k, v in losses.items()}, "kind acc", round(acc, 3))
    print(f"final kind acc {acc:.4f}")


main()
