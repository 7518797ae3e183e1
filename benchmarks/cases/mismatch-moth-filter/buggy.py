import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def catches(n, seed):
    g = torch.Generator().manual_seed(seed)
    forms = torch.randn(5, 8, 8, generator=torch.Generator().manual_seed(3))
    kinds = torch.randint(0, 5, (n,), generator=g).tolist()
    pictures = [forms[k] + 0.8 * torch.randn(8, 8, generator=g) for k in kinds]
    for picture in pictures:
        if torch.rand((), generator=g) < 0.2:
            picture[:4] = 0.0
    return pictures, kinds


def is_whole(picture):
    return bool(picture.abs().sum(1).min() > 0)


class Moths(Dataset):
    def __init__(self, pictures, kinds):
        self.pictures = [p for p in pictures if is_whole(p)]
        self.kinds = kinds

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        return self.pictures[i][None], self.kinds[i]


def main():
    torch.manual_seed(0)
    train = DataLoader(Moths(*catches(1200, 1)), batch_size=32, shuffle=True)
    pictures, kinds = catches(300, 2)
    net = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(768, 5))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(5):
        for x, y in train:
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")
    with torch.no_grad():
        value = nn.functional.cross_entropy(net(torch.stack(pictures)[:, None]), torch.tensor(kinds)).item()
    print(f"final held out {value:.4f}")


if __name__ == "__main__":
    main()
