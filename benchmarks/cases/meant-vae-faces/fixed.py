import torch
import torch.nn as nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, d=49, z=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 64), nn.ReLU())
        self.mu, self.logvar = nn.Linear(64, z), nn.Linear(64, z)
        self.dec = nn.Sequential(nn.Linear(z, 64), nn.ReLU(), nn.Linear(64, d))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def elbo_terms(logits, x, mu, logvar):
    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1).mean()
    kl = (-0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1)).mean()
    return recon, kl


def blobs(n):
    c = torch.rand(n, 2) * 4 + 1
    yy, xx = torch.meshgrid(torch.arange(7.0), torch.arange(7.0), indexing="ij")
    p = torch.exp(-((xx - c[:, :1, None]) ** 2 + (yy - c[:, 1:, None]) ** 2) / 3)
    return (p > 0.4).float().flatten(1)


torch.manual_seed(2)
data = blobs(3000)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
for epoch in range(1, 16):
    tot_r = tot_k = 0.0
    for idx in torch.randperm(3000).split(100):
        x = data[idx]
        logits, mu, logvar = vae(x)
        recon, kl = elbo_terms(logits, x, mu, logvar)
        loss = recon + kl
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot_r, tot_k = tot_r + recon.item(), tot_k + kl.item()
    if epoch % 3 == 0:
        print(f"epoch {epoch} recon {tot_r / 30:.3f} kl {tot_k / 30:.3f}")
print(f"final elbo {(tot_r + tot_k) / 30:.3f}")
