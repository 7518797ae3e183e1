"""Multiple instance learning on slides: one suspicious patch decides the label."""
import torch
from torch import nn
import torch.nn.functional as F


def slides(n, n_patches=20, dim=16, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, n_patches, dim, generator=g)
    pos = torch.randint(0, n_patches, (n,), generator=g)
    y = torch.randint(0, 3, (n,), generator=g)
    kinds = 2.0 * torch.randn(3, dim, generator=torch.Generator().manual_seed(17))
    marker = torch.zeros(dim)
    marker[:4] = 3.0
    x[torch.arange(n), pos] += kinds[y] + marker
    return x, y


class AttentionMIL(nn.Module):
    def __init__(self, dim=16, hidden=32, classes=3):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(dim, hidden), nn.Tanh())
        self.score = nn.Linear(hidden, 1)
        self.cls = nn.Linear(hidden, classes)

    def forward(self, bags):
        h = self.embed(bags)
        a = self.score(h).squeeze(-1)
        a = F.softmax(a, dim=0)
        pooled = torch.einsum("bp,bph->bh", a, h)
        return self.cls(pooled)


def main():
    torch.manual_seed(21)
    xtr, ytr = slides(1200, seed=1)
    xte, yte = slides(600, seed=2)
    model = AttentionMIL()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
    for epoch in range(1, 13):
        model.train()
        tot = 0.0
        for idx in torch.randperm(len(xtr)).split(24):
            loss = F.cross_entropy(model(xtr[idx]), ytr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(idx)
        model.eval()
        with torch.no_grad():
            test_loss = F.cross_entropy(model(xte), yte).item()
        if epoch % 3 == 0:
            print(f"epoch {epoch} train {tot / len(xtr):.4f} test {test_loss:.4f}")
    print(f"final test loss {test_loss:.4f}")


main()
