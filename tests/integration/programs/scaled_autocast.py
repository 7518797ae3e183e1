import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=8.0, enabled=True)
for step in range(6):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(torch.randn(8, 4))
    loss = (out.float() * (0.0 if step == 4 else 1.0)).pow(2).sum().sqrt()
    scaler.scale(loss).backward()
    # Unscaled by hand: the scaler's own step would skip what is not finite.
    for p in model.parameters():
        p.grad /= scaler.get_scale()
    optimizer.step()
    scaler.update(8.0)
