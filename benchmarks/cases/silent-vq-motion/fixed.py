import torch
from torch import nn
import torch.nn.functional as F

K, DIM = 48, 8


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.codebook = nn.Embedding(K, DIM)
        self.codebook.weight.data.normal_(0, 0.5)

    def forward(self, z):
        dist = torch.cdist(z, self.codebook.weight)
        idx = dist.argmin(-1)
        if self.training:
            unused = torch.bincount(idx, minlength=K) == 0
            pick = torch.randint(0, len(z), (int(unused.sum()),))
            self.codebook.weight.data[unused] = z.detach()[pick]
        zq = self.codebook(idx)
        return z + (zq - z).detach(), idx, F.mse_loss(zq, z.detach()), F.mse_loss(z, zq.detach())


class MotionVQ(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 48), nn.GELU(), nn.Linear(48, DIM))
        self.q = Quantizer()
        self.dec = nn.Sequential(nn.Linear(DIM, 48), nn.GELU(), nn.Linear(48, d))

    def forward(self, x):
        zq, idx, codebook_loss, commit = self.q(self.enc(x))
        return self.dec(zq), idx, codebook_loss, commit


def poses(n):
    c = torch.randn(20, 24)
    return c[torch.randint(0, 20, (n,))] + 0.1 * torch.randn(n, 24)


def main():
    torch.manual_seed(8)
    x = poses(2400)
    model = MotionVQ()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(1, 17):
        count, rec = torch.zeros(K), 0.0
        for i in torch.randperm(2400).split(120):
            out, idx, cl, commit = model(x[i])
            recon = F.mse_loss(out, x[i])
            loss = recon + cl + 0.25 * commit
            opt.zero_grad()
            loss.backward()
            opt.step()
            rec += recon.item() / 20
            count += torch.bincount(idx, minlength=K)
        if epoch % 4 == 0:
            print(f"epoch {epoch} recon {rec:.4f} used codes {int((count > 0).sum())}/{K}")
    print(f"final recon {rec:.4f}")


main()
