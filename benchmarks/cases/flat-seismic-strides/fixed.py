"""Tell blasts, tremors and noise apart from three-component seismograms (400 samples)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

KINDS = ("noise", "tremor", "blast")

# The stride of the second layer went from 2 to 4 to make the network faster on the logger.
picker = nn.Sequential(
    nn.Conv1d(3, 16, kernel_size=7, stride=2, padding=3),
    nn.BatchNorm1d(16),
    nn.ReLU(),
    nn.MaxPool1d(2),
    nn.Conv1d(16, 32, kernel_size=5, stride=4, padding=2),
    nn.ReLU(),
    nn.MaxPool1d(2),
    nn.Flatten(),
    nn.Linear(32 * 12, 64),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(64, len(KINDS)),
)


def traces(n, seed):
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, len(KINDS), (n,), generator=g)
    t = torch.arange(400) / 100
    onset = 0.5 + 2 * torch.rand(n, 1, generator=g)
    after = (t - onset).clamp(min=0)
    slow = after * torch.exp(-1.2 * after) * torch.sin(12 * after)
    sharp = torch.exp(-6 * after) * torch.sin(60 * after)
    body = torch.stack([torch.zeros_like(slow), 3 * slow, 1.5 * sharp])[kind, torch.arange(n)]
    gains = 0.5 + torch.rand(n, 3, 1, generator=g)
    return gains * body[:, None, :] + 0.3 * torch.randn(n, 3, 400, generator=g), kind


def train(net, x, y, epochs=3, batch=50, lr=2e-3):
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    gen = torch.Generator().manual_seed(3)
    for epoch in range(epochs):
        running = 0.0
        for rows in torch.randperm(len(x), generator=gen).split(batch):
            loss = F.cross_entropy(net(x[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item() * len(rows) / len(x)
        print(f"epoch {epoch} loss {running:.4f}")
    return running


def main():
    torch.manual_seed(0)
    x, y = traces(900, seed=4)
    print(f"{len(x)} traces of shape {tuple(x.shape[1:])}, {len(KINDS)} kinds")
    loss = train(picker, x, y)
    print(f"final loss {loss:.4f}")


if __name__ == "__main__":
    main()
