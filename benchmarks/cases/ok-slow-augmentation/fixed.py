import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(0)
        self.x = torch.rand(n, 3, 32, 32, generator=g)
        self.y = torch.randint(0, 4, (n,), generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i]
        if torch.rand(()) < 0.5:
            x = x.flip(-1)
        top, left = torch.randint(0, 9, (2,)).tolist()
        x = nn.functional.pad(x, (4, 4, 4, 4))[:, top:top + 32, left:left + 32]
        x = x + 0.1 * torch.randn(3, 32, 32)
        for _ in range(6):
            x = nn.functional.avg_pool2d(x[None], 3, 1, 1)[0]
        return x, self.y[i]


torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(3072, 32), nn.ReLU(), nn.Linear(32, 4))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(4):
    for x, y in DataLoader(Noisy(1200), batch_size=40, shuffle=True):
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
