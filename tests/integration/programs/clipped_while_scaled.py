import torch
from torch import nn

torch.manual_seed(3)
x = torch.randn(256, 12)
y = (x[:, :1] * x[:, 1:2] > 0).float()
model = nn.Sequential(nn.Linear(12, 48), nn.GELU(), nn.Linear(48, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**15)
for step in range(60):
    rows = torch.randint(0, 256, (32,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x[rows])
    loss = nn.functional.binary_cross_entropy_with_logits(out.float(), y[rows])
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
print(f"final loss {loss.item():.4f}")
