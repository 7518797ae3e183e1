import math
import torch
from torch import nn
import torch.nn.functional as F


class SoundNet(nn.Module):
    def __init__(self, n_filters=16, n_classes=6):
        super().__init__()
        self.filter_bank = nn.Conv1d(1, n_filters, 33, stride=4, bias=False)
        t = torch.arange(33) - 16
        for k in range(n_filters):
            f = 0.02 + 0.45 * k / n_filters
            self.filter_bank.weight.data[k, 0] = torch.cos(2 * math.pi * f * t) * torch.hann_window(33) / 8
        self.filter_mixer = nn.Conv1d(n_filters, 24, 3)
        self.filter_gate = nn.Linear(24, 24)
        self.classifier = nn.Linear(24, n_classes)

    def forward(self, wave):
        h = self.filter_bank(wave).abs()
        h = F.relu(self.filter_mixer(h)).mean(-1)
        h = F.relu(self.filter_gate(h))
        return self.classifier(h)


def freeze(model, prefixes=("filter_bank",)):
    for name, p in model.named_parameters():
        if name.startswith(prefixes):
            p.requires_grad = False


def sounds(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 6, (n,), generator=g)
    t = torch.arange(160).float()
    lo = torch.tensor([0.05, 0.05, 0.12, 0.12, 0.2, 0.2])[y][:, None]
    hi = torch.tensor([0.3, 0.38, 0.3, 0.38, 0.3, 0.38])[y][:, None]
    ph = 6.28 * torch.rand(n, 2, generator=g)
    w = torch.sin(6.283 * lo * t + ph[:, :1]) + 0.5 * torch.sin(6.283 * hi * t + ph[:, 1:])
    return (w + 0.9 * torch.randn(n, 160, generator=g)).unsqueeze(1), y


def main():
    torch.manual_seed(3)
    model = SoundNet()
    freeze(model)
    trainable = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.Adam(trainable, lr=4e-3)
    x, y = sounds(1500, 0)
    tx, ty = sounds(500, 1)
    for epoch in range(7):
        for i in torch.randperm(1500).split(50):
            loss = F.cross_entropy(model(x[i]), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            test = F.cross_entropy(model(tx), ty).item()
        print(f"epoch {epoch}: train {loss.item():.3f} test {test:.3f}")
    print(f"final test loss {test:.4f}")


main()
