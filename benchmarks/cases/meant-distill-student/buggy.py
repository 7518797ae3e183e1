import torch
from torch import nn
import torch.nn.functional as F


def net(width, p=0.0):
    return nn.Sequential(nn.Linear(20, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(p), nn.Linear(width, 5))


def gestures(n, seed):
    g = torch.Generator().manual_seed(seed)
    c = torch.randn(5, 20, generator=torch.Generator().manual_seed(50))
    y = torch.randint(0, 5, (n,), generator=g)
    return 0.9 * c[y] + torch.randn(n, 20, generator=g), y


class Distiller:
    def __init__(self, teacher, student, temperature=3.0, alpha=0.6):
        self.teacher, self.student = teacher.eval(), student
        for p in self.teacher.parameters():
            p.requires_grad = False
        self.T, self.alpha = temperature, alpha
        self.opt = torch.optim.Adam(student.parameters(), lr=3e-3)

    def step(self, x, y):
        self.student.train()
        with torch.no_grad():
            soft = F.softmax(self.teacher(x) / self.T, dim=1)
        out = self.student(x)
        kd = F.kl_div(F.log_softmax(out / self.T, dim=1), soft, reduction="batchmean") * self.T ** 2
        loss = self.alpha * kd + (1 - self.alpha) * F.cross_entropy(out, y)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


def train_teacher(x, y):
    teacher = net(96, p=0.2)
    opt = torch.optim.Adam(teacher.parameters(), lr=3e-3)
    for _ in range(4):
        for i in torch.randperm(len(x)).split(50):
            loss = F.cross_entropy(teacher(x[i]), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return teacher


def main():
    torch.manual_seed(12)
    x, y = gestures(2000, 1)
    tx, ty = gestures(600, 2)
    d = Distiller(train_teacher(x, y), net(12))
    for epoch in range(8):
        m = [d.step(x[i], y[i]) for i in torch.randperm(2000).split(50)]
        d.student.eval()
        with torch.no_grad():
            acc = (d.student(tx).argmax(1) == ty).float().mean().item()
        print(f"epoch {epoch} loss {sum(m) / len(m):.4f} acc {acc:.3f}")
    print(f"final acc {acc:.4f}")


if __name__ == "__main__":
    main()
