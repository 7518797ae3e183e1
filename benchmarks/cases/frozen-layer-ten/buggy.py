import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, depth=12, width=32):
        super().__init__()
        for k in range(1, depth + 1):
            setattr(self, f"layer{k}", nn.Linear(width, width))
        self.depth = depth
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for k in range(1, self.depth + 1):
            x = x + torch.tanh(getattr(self, f"layer{k}")(x))
        return self.out(x).squeeze(-1)


torch.manual_seed(0)
model = Deep()
FROZEN = ("layer1",)
for name, p in model.named_parameters():
    if any(f in name for f in FROZEN):
        p.requires_grad_(False)
x = torch.randn(1200, 32)
y = torch.sin(x[:, :8]).sum(1) * x[:, 9].sign()
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-3)
for epoch in range(15):
    for i in torch.randperm(1200).split(60):
        loss = nn.functional.mse_loss(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"final loss {loss.item():.4f}")
