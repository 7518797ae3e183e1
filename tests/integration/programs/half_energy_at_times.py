"""The energy of a window under autocast; a few windows are loud, and the scaler leaves their steps out."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters, self.head = nn.Linear(32, 8), nn.Linear(1, 1)

    def forward(self, window):
        h = self.filters(window)
        power = (h * h).sum(1)
        return self.head(torch.log1p(power)[:, None])


torch.manual_seed(0)
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
windows = 30 * torch.randn(400, 32)
windows[[95, 241, 333]] *= 8
for rows in torch.arange(400).split(10):
    with torch.autocast("cpu", dtype=torch.float16):
        out = model(windows[rows])
    loss = out.float().square().mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
