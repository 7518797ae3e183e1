import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

N_TAGS = 12


class MovieTags(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        w = torch.randn(30, N_TAGS, generator=torch.Generator().manual_seed(5)) * 0.8
        self.feats = torch.randn(n, 30, generator=g)
        prob = torch.sigmoid(self.feats @ w - 1.0)
        self.tags = (torch.rand(n, N_TAGS, generator=g) < prob).float()

    def __len__(self):
        return len(self.feats)

    def __getitem__(self, i):
        return self.feats[i], self.tags[i]


def build():
    layers = [nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, N_TAGS)]
    layers.append(nn.Sigmoid())
    return nn.Sequential(*layers)


def log_loss(model, ds):
    with torch.no_grad():
        p = model(ds.feats)
        return nn.functional.binary_cross_entropy(p.clamp(1e-6, 1 - 1e-6), ds.tags).item()


torch.manual_seed(3)
train_ds, valid_ds = MovieTags(2000, 0), MovieTags(1000, 1)
loader = DataLoader(train_ds, batch_size=50, shuffle=True)
net = build()
criterion = nn.BCEWithLogitsLoss()
optim = torch.optim.AdamW(net.parameters(), lr=2e-3)

for epoch in range(10):
    seen = 0.0
    for feats, tags in loader:
        out = net(feats)
        loss = criterion(out, tags)
        optim.zero_grad()
        loss.backward()
        optim.step()
        seen += loss.item()
    print("epoch", epoch, "bce", round(seen / len(loader), 4), "valid", round(log_loss(net, valid_ds), 4))
print(f"final valid log loss {log_loss(net, valid_ds):.4f}")
