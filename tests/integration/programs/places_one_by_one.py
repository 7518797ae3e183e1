"""Places told apart by a batch-hard triplet loss; the scans lie place by place in one file."""

import torch
from torch import nn

PLACES, PER, DIM = 10, 64, 24


def scans(seed, noise=0.6):
    centres = torch.randn(PLACES, DIM, generator=torch.Generator().manual_seed(5))
    gen = torch.Generator().manual_seed(seed)
    x = centres.repeat_interleave(PER, 0) + noise * torch.randn(PLACES * PER, DIM, generator=gen)
    return x, torch.arange(PLACES).repeat_interleave(PER)


def batch_hard(emb, place, margin=0.5):
    gap = torch.cdist(emb, emb)
    differs = place.unsqueeze(1) != place.unsqueeze(0)
    furthest = gap.masked_fill(differs, 0.0).amax(1)
    nearest = gap.masked_fill(~differs, 4.0).amin(1)
    return torch.nn.functional.softplus((furthest - nearest) * 2 + margin).mean()


torch.manual_seed(0)
x, place = scans(1)
net = nn.Sequential(nn.Linear(DIM, 64), nn.ReLU(), nn.Linear(64, 8))
opt = torch.optim.Adam(net.parameters(), 2e-3)
for epoch in range(8):
    total = 0.0
    for i in range(0, len(x), 32):
        rows, ids = x[i : i + 32], place[i : i + 32]
        emb = nn.functional.normalize(net(rows), dim=1)
        loss = batch_hard(emb, ids)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(epoch, total / (len(x) // 32))
