import numpy as np, torch
from torch import nn
class Spectral(nn.Module):
    def __init__(self, n, k):
        super().__init__()
        self.basis = torch.randn(n, k)
        self.lin = nn.Linear(k, 1)
    def forward(self, x):
        return self.lin(x @ self.basis).squeeze(-1)
torch.manual_seed(0)
model = Spectral(12, 5)
opt = torch.optim.Adam(model.parameters(), 1e-2)
rng = np.random.default_rng(0)
for step in range(20):
    x = torch.from_numpy(rng.normal(size=(8, 12)))
    loss = (model(x) - x.sum(1)).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
print("final", loss.item())
