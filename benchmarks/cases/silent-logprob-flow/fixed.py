import torch
from torch import nn
from torch.distributions import Normal


class DemandDensity(nn.Module):
    """Predicts mean and spread of tomorrow's demand."""

    def __init__(self, n_in=7):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 40), nn.SiLU(), nn.Linear(40, 2))

    def forward(self, x):
        mu, s = self.net(x).unbind(-1)
        return Normal(mu, 0.05 + 4 * torch.sigmoid(s))


def demand(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 7, generator=g)
    mu = x[:, 0] * 2 + torch.cos(2 * x[:, 1])
    return x, mu + (0.2 + 0.3 * torch.sigmoid(x[:, 2])) * torch.randn(n, generator=g)


class Fitter:
    def __init__(self, model, lr=3e-3):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def objective(self, x, y):
        logp = self.model(x).log_prob(y)
        return -logp.mean()

    def fit(self, x, y, steps):
        for k in range(1, steps + 1):
            i = torch.randint(0, len(x), (80,))
            loss = self.objective(x[i], y[i])
            self.opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            if k % 100 == 0:
                print(f"step {k} objective {loss.item():.3f}")


torch.manual_seed(4)
model = DemandDensity()
x, y = demand(3000, 0)
Fitter(model).fit(x, y, 600)
tx, ty = demand(800, 1)
with torch.no_grad():
    print(f"final mean abs error {(model(tx).mean - ty).abs().mean().item():.4f}")
