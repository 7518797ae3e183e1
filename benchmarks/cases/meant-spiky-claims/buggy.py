import random
import torch
from torch import nn

random.seed(0)
torch.manual_seed(0)


class ClaimDays:
    def __init__(self, p_storm=0.04):
        self.p = p_storm
        self.w = torch.randn(8)

    def __iter__(self):
        while True:
            x = torch.randn(64, 8)
            storm = random.random() < self.p
            base = x @ self.w * 0.5
            y = base * 6 + 4 if storm else base
            yield torch.cat([x, torch.full((64, 1), float(storm))], 1), y + 0.05 * torch.randn(64), storm


class ClaimNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(9, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.a(x).squeeze(-1)


net = ClaimNet()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
calm, storms = [], []
for step, (x, y, storm) in enumerate(ClaimDays()):
    if step == 1500:
        break
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 5.0)
    optimizer.step()
    (storms if storm else calm).append(loss.item())
    if storm and step < 200 or step % 250 == 0:
        print(f"day {step} {'STORM' if storm else 'calm'} loss {loss.item():.3f}")
print(f"storm loss first {storms[0]:.3f} last {storms[-1]:.3f}")
print(f"final calm loss {sum(calm[-100:]) / 100:.4f}")
