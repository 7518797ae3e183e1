import torch
from torch import nn


class Loom(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.encoder = nn.GRU(5, width, batch_first=True)
        self.head = nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, 3))

    def pool(self, sequences):
        pooled = []
        for sequence in sequences:
            states, _ = self.encoder(sequence[None])
            pooled.append(states[0].mean(0).tolist())
        return torch.tensor(pooled)

    def forward(self, sequences):
        return self.head(self.pool(sequences))


def weave(n, seed):
    g = torch.Generator().manual_seed(seed)
    made = []
    for _ in range(n):
        kind = int(torch.randint(0, 3, (), generator=g))
        t = torch.arange(int(torch.randint(10, 20, (), generator=g)))
        wave = torch.sin((0.5 + 0.4 * kind) * t + 6 * torch.rand((), generator=g))
        made.append((torch.cat([wave[:, None], 0.3 * torch.randn(len(t), 4, generator=g)], 1), kind))
    return made


def main():
    torch.manual_seed(9)
    data, held = weave(300, 1), weave(100, 2)
    model = Loom()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(10):
        for rows in torch.randperm(len(data)).split(30):
            part = [data[i] for i in rows]
            loss = nn.functional.cross_entropy(model([s for s, _ in part]), torch.tensor([k for _, k in part]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        value = nn.functional.cross_entropy(model([s for s, _ in held]), torch.tensor([k for _, k in held]))
    print(f"final loss {value.item():.4f}")


if __name__ == "__main__":
    main()
