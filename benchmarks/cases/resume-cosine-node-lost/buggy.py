import os, tempfile, torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR


class Trainer:
    def __init__(self, total=20):
        torch.manual_seed(1)
        self.model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.scheduler = CosineAnnealingLR(self.optimizer, T_max=total)
        self.epoch = 0
        g = torch.Generator().manual_seed(3)
        self.x = torch.randn(256, 6, generator=g)
        self.y = self.x[:, :2].prod(1, keepdim=True) + self.x[:, 2:3]

    def state(self):
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "epoch": self.epoch,
        }

    def save(self, path):
        torch.save(self.state(), path)

    def resume(self, path):
        ckpt = torch.load(path)
        self.model.load_state_dict(ckpt["model"])
        self.optimizer.load_state_dict(ckpt["optimizer"])
        self.epoch = ckpt["epoch"]

    def run(self, until, path=None, fail_at=None):
        while self.epoch < until:
            if self.epoch == fail_at:
                raise RuntimeError("node lost")
            order = torch.randperm(256, generator=torch.Generator().manual_seed(self.epoch))
            tot = 0
            for i in order.split(32):
                loss = nn.functional.mse_loss(self.model(self.x[i]), self.y[i])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                tot += loss.item()
            self.scheduler.step()
            self.epoch += 1
            if path:
                self.save(path)
            print(self.epoch, round(tot / 8, 5), self.scheduler.get_last_lr()[0])


def main():
    path = os.path.join(tempfile.mkdtemp(), "last.pt")
    t = Trainer()
    try:
        t.run(20, path, fail_at=12)
    except RuntimeError as e:
        print("restarting:", e)
    t = Trainer()
    t.resume(path)
    t.run(20, path)
    print("final", t.scheduler.get_last_lr()[0])


main()
