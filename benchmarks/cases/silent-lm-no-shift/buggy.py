import torch
from torch import nn
from dataclasses import dataclass, field


@dataclass
class Args:
    n_items: int = 50
    hidden: int = 48
    session: int = 12
    epochs: int = 5
    lr: float = 5e-3
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))


class SessionRec(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.items = nn.Embedding(a.n_items, a.hidden)
        self.gru = nn.GRU(a.hidden, a.hidden, batch_first=True)
        self.score = nn.Linear(a.hidden, a.n_items)

    def forward(self, s):
        return self.score(self.gru(self.items(s))[0])


def sessions(n, a, seed):
    g = torch.Generator().manual_seed(seed)
    follow = torch.randint(0, a.n_items, (a.n_items,), generator=torch.Generator().manual_seed(0))
    s = torch.zeros(n, a.session, dtype=torch.long)
    s[:, 0] = torch.randint(0, a.n_items, (n,), generator=g)
    for t in range(1, a.session):
        stay = torch.rand(n, generator=g) < 0.8
        s[:, t] = torch.where(stay, follow[s[:, t - 1]], torch.randint(0, a.n_items, (n,), generator=g))
    return s


def hit_rate(model, s):
    with torch.no_grad():
        guess = model(s[:, :-1])[:, -1].argmax(-1)
    return (guess == s[:, -1]).float().mean().item()


def main(a=Args()):
    torch.manual_seed(7)
    train, test = sessions(2000, a, 1).to(a.device), sessions(500, a, 2).to(a.device)
    model = SessionRec(a).to(a.device)
    opt = torch.optim.Adam(model.parameters(), lr=a.lr)
    ce = nn.CrossEntropyLoss()
    for epoch in range(a.epochs):
        for idx in torch.randperm(len(train)).split(50):
            items = train[idx]
            logits = model(items)
            loss = ce(logits.reshape(-1, a.n_items), items.reshape(-1))
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f} hit rate {hit_rate(model, test):.3f}")
    print(f"final hit rate {hit_rate(model, test):.4f}")


if __name__ == "__main__":
    main()
