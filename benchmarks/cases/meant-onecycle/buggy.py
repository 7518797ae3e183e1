from torch import nn, optim
import torch
import torch.nn.functional as F


class HP:
    epochs = 10
    bs = 64
    max_lr = 2e-2


class WindFarm(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randn(n, 9, generator=g)
        v = self.x[:, 0].clamp(-1.5, 1.5)
        self.y = (v ** 3 + 0.5 * self.x[:, 1] * self.x[:, 2] + 0.05 * torch.randn(n, generator=g)).unsqueeze(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Learner:
    def __init__(self, model, train_dl, valid_ds):
        self.model, self.dl, self.valid = model, train_dl, valid_ds
        self.opt = optim.AdamW(model.parameters(), lr=HP.max_lr / 25)
        self.sched = optim.lr_scheduler.OneCycleLR(self.opt, max_lr=HP.max_lr, steps_per_epoch=len(train_dl), epochs=HP.epochs)

    def one_batch(self, xb, yb):
        loss = F.mse_loss(self.model(xb), yb)
        loss.backward()
        self.opt.step()
        self.sched.step()
        self.opt.zero_grad()
        return loss.item()

    def fit(self):
        for e in range(HP.epochs):
            tl = [self.one_batch(xb, yb) for xb, yb in self.dl]
            with torch.no_grad():
                vl = F.mse_loss(self.model(self.valid.x), self.valid.y).item()
            print(f"{e} train {sum(tl) / len(tl):.4f} valid {vl:.4f} lr {self.sched.get_last_lr()[0]:.5f}")
        return vl


if __name__ == "__main__":
    torch.manual_seed(26)
    dl = torch.utils.data.DataLoader(WindFarm(2000, 0), batch_size=HP.bs, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Linear(9, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
    print(f"final valid {Learner(model, dl, WindFarm(500, 1)).fit():.4f}")
