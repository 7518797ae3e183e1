import torch
from torch import nn
from torch.nn import functional as F


class LeafNet(nn.Module):
    def __init__(self, n_cls=5):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3, padding=1)
        self.c2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 9, n_cls)

    def forward(self, im):
        h = F.max_pool2d(torch.relu(self.c1(im)), 2)
        h = F.max_pool2d(torch.relu(self.c2(h)), 2)
        return self.fc(h.flatten(1))


def leaves(n, seed):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(5, 1, 12, 12, generator=torch.Generator().manual_seed(3))
    lab = torch.randint(0, 5, (n,), generator=g)
    return proto[lab] * 0.5 + torch.randn(n, 1, 12, 12, generator=g), lab


def step(model, opt, im, lab):
    opt.zero_grad()
    out = model(im)
    loss = F.cross_entropy(out, lab)
    loss.backward()
    opt.step()
    return loss.item()


def test(model, im, lab):
    model.eval()
    with torch.no_grad():
        return F.cross_entropy(model(im), lab).item()


def main():
    torch.manual_seed(7)
    tr_im, tr_lab = leaves(1600, 1)
    te_im, te_lab = leaves(600, 2)
    model = LeafNet()
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for ep in range(6):
        model.train()
        losses = [step(model, opt, tr_im[b], tr_lab[b]) for b in torch.randperm(1600).split(64)]
        print(f"epoch {ep}: loss {sum(losses) / len(losses):.3f} test loss {test(model, te_im, te_lab):.3f}")
    print(f"final test loss {test(model, te_im, te_lab):.4f}")


if __name__ == "__main__":
    main()
