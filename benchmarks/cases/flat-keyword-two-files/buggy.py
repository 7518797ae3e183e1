"""Train the keyword spotter on synthetic sweeps."""
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, Dataset

from model import KeywordNet

WORDS = ["up", "down", "flat"]
SETUP = {"frames": 80, "mels": 40, "width": 24, "clips": 480, "batch": 40, "epochs": 2, "lr": 2e-3}


class Sweeps(Dataset):
    """A bright ridge that rises, falls or stays, in noise."""

    def __init__(self, setup, seed=0):
        gen = torch.Generator().manual_seed(seed)
        n, frames, mels = setup["clips"], setup["frames"], setup["mels"]
        self.words = torch.randint(0, len(WORDS), (n,), generator=gen)
        slope = torch.tensor([0.3, -0.3, 0.0])[self.words][:, None]
        start = mels * (0.3 + 0.4 * torch.rand(n, 1, generator=gen))
        ridge = start + slope * (torch.arange(frames) - frames / 2)
        distance = torch.arange(mels)[None, None, :] - ridge[:, :, None]
        self.patches = torch.exp(-distance ** 2 / 8) + 0.2 * torch.randn(n, frames, mels, generator=gen)

    def __len__(self):
        return len(self.words)

    def __getitem__(self, i):
        return self.patches[i], self.words[i]


def train(net, loader, setup):
    optimizer = torch.optim.Adam(net.parameters(), lr=setup["lr"])
    for epoch in range(setup["epochs"]):
        correct, losses = 0, []
        for patches, words in loader:
            logits = net(patches)
            loss = cross_entropy(logits, words)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            correct += int((logits.argmax(1) == words).sum())
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}, {correct} of {len(loader.dataset)} right")
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(0)
    loader = DataLoader(Sweeps(SETUP), batch_size=SETUP["batch"], shuffle=True)
    net = KeywordNet(classes=len(WORDS), width=SETUP["width"])
    print(sum(p.numel() for p in net.parameters()), "parameters")
    print(f"final loss {train(net, loader, SETUP):.4f}")


if __name__ == "__main__":
    main()
