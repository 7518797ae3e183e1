import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Trajectories(Dataset):
    """Tracks of tagged animals, cut to a fixed number of fixes."""

    def __init__(self, n, fixes=48):
        g = torch.Generator().manual_seed(7)
        self.fixes = fixes
        self.tracks = []
        for i in range(n):
            m = 30 if i == 143 else int(torch.randint(60, 140, (1,), generator=g))
            speed = torch.rand(1, generator=g) + 0.2
            self.tracks.append((torch.cumsum(torch.randn(m, 2, generator=g) * speed, 0), speed.squeeze(0)))

    def __len__(self):
        return len(self.tracks)

    def __getitem__(self, i):
        track, speed = self.tracks[i]
        first = int(torch.randint(0, max(1, track.shape[0] - self.fixes), (1,)))
        track = nn.functional.pad(track, (0, 0, 0, max(0, self.fixes - len(track))))
        cut = track[first:first + self.fixes]
        cut = cut - cut[0]
        return {"track": cut.t(), "speed": speed}


torch.manual_seed(0)
full = Trajectories(260)
train, val = random_split(full, [220, 40], generator=torch.Generator().manual_seed(3))
loader = DataLoader(train, batch_size=20, shuffle=True)
model = nn.Sequential(nn.Conv1d(2, 16, 5), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for batch in loader:
        loss = nn.functional.mse_loss(model(batch["track"]).squeeze(1), batch["speed"])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        errors = [nn.functional.mse_loss(model(b["track"]).squeeze(1), b["speed"]).item() for b in DataLoader(val, batch_size=20)]
    print("epoch", epoch, "val", sum(errors) / len(errors))
print(f"final loss {sum(errors) / len(errors):.4f}")
