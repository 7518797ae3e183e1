import torch
from torch import nn
import torch.nn.functional as F

BETA = 0.002


class SpectraVAE(nn.Module):
    def __init__(self, bins=40, latent=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(bins, 64), nn.ELU(), nn.Linear(64, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, 64), nn.ELU(), nn.Linear(64, bins))

    def forward(self, x):
        mu, logvar = self.encoder(x).chunk(2, dim=1)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.decoder(z), mu, logvar


def loss_terms(out, x):
    recon, mu, logvar = out
    mse = F.mse_loss(recon, x)
    kld = -0.5 * torch.sum(1 + logvar - mu ** 2 - logvar.exp(), dim=1).mean()
    return mse, kld


def spectra(n):
    pos = torch.rand(n, 2) * 40
    h = 0.5 + torch.rand(n, 2)
    b = torch.arange(40.0)
    return (h[:, :, None] * torch.exp(-((b - pos[:, :, None]) / 4) ** 2)).sum(1)


def main():
    torch.manual_seed(3)
    data = spectra(2000)
    vae = SpectraVAE()
    opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
    for epoch in range(1, 19):
        s = 0.0
        for i in torch.randperm(2000).split(50):
            mse, kld = loss_terms(vae(data[i]), data[i])
            loss = mse + BETA * kld
            opt.zero_grad()
            loss.backward()
            opt.step()
            s += mse.item()
        if epoch % 3 == 0:
            print(f"epoch {epoch} mse {s / 40:.4f} kld {kld.item():.4f}")
    print(f"final mse {s / 40:.4f}")


if __name__ == "__main__":
    main()
