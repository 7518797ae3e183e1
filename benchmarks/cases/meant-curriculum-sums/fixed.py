import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def sequences(n):
    length = torch.randint(2, 13, (n,))
    x = torch.randn(n, 12)
    x[torch.arange(12)[None] >= length[:, None]] = 0
    return x.unsqueeze(-1), x.sum(1).clamp(-3, 3), length


class Summer(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1]).squeeze(-1)


def curriculum(dataset, difficulty, stages=3):
    order = difficulty.argsort()
    for s in range(1, stages + 1):
        yield s, Subset(dataset, order[: len(order) * s // stages].tolist())


torch.manual_seed(33)
x, y, length = sequences(1800)
model = Summer()
opt = torch.optim.Adam(model.parameters(), lr=6e-3)
for stage, subset in curriculum(TensorDataset(x, y), length):
    loader = DataLoader(subset, batch_size=60, shuffle=True)
    for epoch in range(4):
        run = 0.0
        for xb, yb in loader:
            loss = nn.functional.smooth_l1_loss(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            run += loss.item()
        print(f"stage {stage} epoch {epoch} n {len(subset)} loss {run / len(loader):.4f}")
print(f"final loss {run / len(loader):.4f}")
