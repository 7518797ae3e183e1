import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        t = torch.linspace(0, 1, 4000)
        x = sum(torch.sin(t * 6.28 * f) * torch.rand((), generator=g) for f in range(1, 12))
        x = x + 0.1 * torch.randn(4000, generator=g)
        return x[::40].clone(), x.std()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(100, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for x, y in DataLoader(Waves(), batch_size=20, shuffle=True):
        loss = (model(x).squeeze(1) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
