import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader, random_split

QUESTIONS = 8


class SurveyNet(nn.Module):
    def __init__(self, in_features=15, hidden=40):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(in_features, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden), nn.LeakyReLU())
        self.heads = nn.ModuleList([nn.Linear(hidden, 1)] * QUESTIONS)

    def forward(self, x):
        z = self.encoder(x)
        return torch.cat([head(z) for head in self.heads], dim=-1)


def make_dataset(n=1500):
    person = torch.randn(n, 15)
    loadings = torch.randn(15, QUESTIONS) / 4
    answers = torch.tanh(person @ loadings) * 2 + 0.1 * torch.randn(n, QUESTIONS)
    return TensorDataset(person, answers)


def main():
    torch.manual_seed(101)
    train, val = random_split(make_dataset(), [1200, 300])
    train_loader = DataLoader(train, batch_size=40, shuffle=True, drop_last=True)
    val_loader = DataLoader(val, batch_size=300)
    net, mse = SurveyNet(), nn.MSELoss()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(12):
        net.train()
        for person, answers in train_loader:
            loss = mse(net(person), answers)
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            val_loss = sum(mse(net(p), a).item() for p, a in val_loader) / len(val_loader)
        print(f"epoch {epoch:02d} train {loss.item():.4f} val {val_loss:.4f}")
    print(f"final val {val_loss:.4f}")


if __name__ == "__main__":
    main()
