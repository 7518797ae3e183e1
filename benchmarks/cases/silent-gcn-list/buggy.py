import torch
from torch import nn
import torch.nn.functional as F


class GraphStack:
    """A stack of neighbourhood averaging layers."""

    def __init__(self, sizes):
        super().__init__()
        self.layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]

    def __call__(self, x, adj):
        for lin in self.layers:
            x = F.relu(adj @ lin(x))
        return x


class GCN(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.stack = GraphStack([n_in, 12, 6])
        self.readout = nn.Linear(6, n_out)

    def forward(self, x, adj):
        return self.readout(self.stack(x, adj))


def citation_graph(n=400, k=5, seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, k, (n,), generator=g)
    words = torch.randn(k, 30, generator=g)
    x = 0.5 * words[y] + torch.randn(n, 30, generator=g)
    same = y[:, None] == y[None]
    a = (torch.rand(n, n, generator=g) < torch.where(same, 0.03, 0.006)).float()
    a = ((a + a.T) > 0).float() + torch.eye(n)
    d = a.sum(1).rsqrt()
    return x, y, d[:, None] * a * d[None]


def main():
    torch.manual_seed(1)
    x, y, adj = citation_graph()
    model = GCN(30, 5)
    print("parameters:", sum(p.numel() for p in model.parameters()))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    train, test = torch.arange(0, 200), torch.arange(200, 400)
    for epoch in range(1, 161):
        model.train()
        loss = F.cross_entropy(model(x, adj)[train], y[train])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch % 40 == 0:
            model.eval()
            with torch.no_grad():
                tl = F.cross_entropy(model(x, adj)[test], y[test]).item()
            print(f"epoch {epoch} loss {loss.item():.4f} test {tl:.4f}")
    print(f"final test {tl:.4f}")


if __name__ == "__main__":
    main()
