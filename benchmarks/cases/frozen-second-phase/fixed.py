import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.head = nn.Linear(32, n_out)

    def forward(self, x):
        return self.head(self.encoder(x))


def problem(n, k, seed):
    g = torch.Generator().manual_seed(seed)
    centre = torch.randn(3 * k, 16, generator=torch.Generator().manual_seed(k))
    c = torch.randint(0, 3 * k, (n,), generator=g)
    return centre[c] + 0.6 * torch.randn(n, 16, generator=g), c % k


class Finetuner:
    def __init__(self, model):
        self.model = model

    def freeze_encoder(self):
        for p in self.model.encoder.parameters():
            p.requires_grad_(False)

    def run(self, optimizer, data, epochs, name):
        x, y = data
        for e in range(epochs):
            for i in torch.randperm(len(x)).split(50):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(self.model(x[i]), y[i])
                loss.backward()
                optimizer.step()
            print(name, e, round(loss.item(), 4))
        return loss.item()


def main():
    torch.manual_seed(5)
    model = Net(4)
    tuner = Finetuner(model)
    tuner.run(torch.optim.Adam(model.parameters(), lr=2e-3), problem(1500, 4, 0), 2, "pretrain")
    model.head = nn.Linear(32, 7)
    tuner.freeze_encoder()
    data = problem(1500, 7, 1)
    tuner.run(torch.optim.Adam(model.head.parameters(), lr=5e-3), data, 3, "head")
    model.encoder.requires_grad_(True)
    last = tuner.run(torch.optim.Adam(model.parameters(), lr=2e-3), data, 8, "all")
    with torch.no_grad():
        print(f"final loss {nn.functional.cross_entropy(model(data[0]), data[1]).item():.4f}")


main()
