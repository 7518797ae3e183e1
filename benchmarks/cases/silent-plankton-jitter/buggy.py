import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Plankton(Dataset):
    def __init__(self, n, seed, jitter=0.0):
        g = torch.Generator().manual_seed(seed)
        kinds = torch.randn(8, 64, generator=torch.Generator().manual_seed(12))
        self.labels = torch.randint(0, 8, (n,), generator=g)
        self.images = kinds[self.labels] + 0.9 * torch.randn(n, 64, generator=g)
        self.jitter = jitter

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.images[i]
        if self.jitter:
            img += self.jitter * torch.randn(64)
        return img, self.labels[i]


def main():
    torch.manual_seed(16)
    train = DataLoader(Plankton(800, 0, jitter=0.7), batch_size=40, shuffle=True)
    test = Plankton(800, 1)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(22):
        total, correct = 0.0, 0
        for img, lab in train:
            out = net(img)
            loss = nn.functional.cross_entropy(out, lab)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(lab)
            correct += (out.argmax(1) == lab).sum().item()
        if epoch % 4 == 0:
            print(f"epoch {epoch} train loss {total / 800:.4f} acc {correct / 800:.3f}")
    with torch.no_grad():
        print(f"test loss {nn.functional.cross_entropy(net(test.images), test.labels).item():.4f}")
    print(f"final train loss {total / 800:.4f}")


if __name__ == "__main__":
    main()
