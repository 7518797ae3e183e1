import torch
from torch import nn
import torch.nn.functional as F


class Codebook(nn.Module):
    def __init__(self, k, d):
        super().__init__()
        self.k = k
        self.codes = nn.Parameter(torch.empty(k, d).uniform_(-1 / k, 1 / k))

    def forward(self, z):
        d2 = z.pow(2).sum(1, keepdim=True) - 2 * z @ self.codes.t() + self.codes.pow(2).sum(1)
        ids = d2.argmin(1)
        q = self.codes[ids]
        loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), ids, loss


class FrameTokenizer(nn.Module):
    def __init__(self, bands=20, d=6, k=64):
        super().__init__()
        self.enc = nn.Linear(bands, d)
        self.book = Codebook(k, d)
        self.dec = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, bands))

    def forward(self, frames):
        q, ids, vq = self.book(self.enc(frames))
        return self.dec(q), ids, vq


def log_energies(n, seed=0):
    g = torch.Generator().manual_seed(seed)
    phones = torch.randn(40, 20, generator=g)
    return -6 + phones[torch.randint(0, 40, (n,), generator=g)] + 0.15 * torch.randn(n, 20, generator=g)


def main():
    torch.manual_seed(0)
    frames = log_energies(4096)
    tok = FrameTokenizer()
    opt = torch.optim.Adam(tok.parameters(), lr=5e-3)
    for epoch in range(1, 17):
        used, rec_sum = set(), 0.0
        for idx in torch.randperm(4096).split(64):
            rec, ids, vq = tok(frames[idx])
            rec_loss = F.mse_loss(rec, frames[idx])
            loss = rec_loss + vq
            opt.zero_grad()
            loss.backward()
            opt.step()
            used.update(ids.tolist())
            rec_sum += rec_loss.item()
        if epoch % 4 == 0:
            print(f"epoch {epoch} rec {rec_sum / 64:.4f} codes used {len(used)}")
    print(f"final rec loss {rec_sum / 64:.4f}")


main()
