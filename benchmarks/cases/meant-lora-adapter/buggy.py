from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class LoraConfig:
    r: int = 4
    alpha: int = 8
    target: tuple = ("0", "2")


class LoRALinear(nn.Module):
    def __init__(self, base, cfg):
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.randn(cfg.r, base.in_features) / base.in_features ** 0.5)
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, cfg.r))
        self.scale = cfg.alpha / cfg.r

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.lora_A.t()) @ self.lora_B.t()


def add_lora(net, cfg):
    for p in net.parameters():
        p.requires_grad_(False)
    for name in cfg.target:
        setattr(net, name, LoRALinear(getattr(net, name), cfg))
    return [p for n, p in net.named_parameters() if "lora_" in n]


def fit(net, params, x, y, steps, lr):
    opt = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    for s in range(steps):
        i = torch.randint(0, len(x), (64,))
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if s % 150 == 0:
            print(f"  step {s} loss {loss.item():.4f}")


torch.manual_seed(9)
x = torch.randn(2500, 16)
w = torch.randn(16, 4) / 4
y_old = torch.tanh(x @ w)
y_new = torch.tanh(x @ (w + torch.randn(16, 1) @ torch.randn(1, 4) / 5))
net = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 4))
print("pretraining")
fit(net, net.parameters(), x, y_old, 450, 5e-3)
print("adapting")
fit(net, add_lora(net, LoraConfig()), x, y_new, 600, 5e-3)
with torch.no_grad():
    print(f"final mse {nn.functional.mse_loss(net(x), y_new).item():.4f}")
