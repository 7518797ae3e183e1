"""Intent of search queries."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

INTENTS = ("buy", "compare", "help", "other")


class QueryEncoder(nn.Module):
    def __init__(self, vocab=80, dim=16, hidden=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)

    def forward(self, tokens):
        _, last = self.gru(self.embed(tokens))
        return last.squeeze()


class IntentModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = QueryEncoder()
        self.classify = nn.Sequential(nn.Dropout(0.1), nn.Linear(32, len(INTENTS)))

    def forward(self, tokens):
        return self.classify(self.encoder(tokens))


def queries(n=801, length=7, seed=60):
    g = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, 80, (n, length), generator=g)
    return TensorDataset(tokens, tokens[:, -1] % len(INTENTS))


class Training:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.02)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def epoch(self, loader):
        total = 0.0
        for tokens, intent in loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(tokens), intent)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(intent)
        return total / len(loader.dataset)


def main():
    torch.manual_seed(2)
    loader = DataLoader(queries(), batch_size=50, shuffle=True)
    training = Training(IntentModel(), lr=1e-2)
    for epoch in range(5):
        mean = training.epoch(loader)
        print(f"epoch {epoch} loss {mean:.4f}")
    print(f"final loss {mean:.4f}")


if __name__ == "__main__":
    main()
