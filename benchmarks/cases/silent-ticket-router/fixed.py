from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    vocab: int = 600
    queues: int = 40
    words: int = 14
    dim: int = 48
    batch_size: int = 64
    epochs: int = 8
    lr: float = 3e-3
    seed: int = 0


def make_tickets(cfg, n, seed):
    g = torch.Generator().manual_seed(seed)
    topic_words = torch.randint(0, cfg.vocab, (cfg.queues, 12), generator=torch.Generator().manual_seed(99))
    queue = torch.randint(0, cfg.queues, (n,), generator=g)
    words = torch.randint(0, cfg.vocab, (n, cfg.words), generator=g)
    on_topic = torch.rand(n, cfg.words, generator=g) < 0.35
    pick = torch.randint(0, 12, (n, cfg.words), generator=g)
    words = torch.where(on_topic, topic_words[queue[:, None], pick], words)
    return words, queue


class TicketRouter(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.EmbeddingBag(cfg.vocab, cfg.dim)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim, 64), nn.ReLU(), nn.Linear(64, cfg.queues))

    def forward(self, words):
        scores = self.mlp(self.emb(words))
        return scores


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.model = TicketRouter(cfg)
        self.criterion = nn.CrossEntropyLoss()
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)

    def run_epoch(self, words, queue):
        self.model.train()
        total = 0.0
        for idx in torch.randperm(len(words)).split(self.cfg.batch_size):
            self.opt.zero_grad()
            loss = self.criterion(self.model(words[idx]), queue[idx])
            loss.backward()
            self.opt.step()
            total += loss.item() * len(idx)
        return total / len(words)

    @torch.no_grad()
    def accuracy(self, words, queue):
        self.model.eval()
        return (self.model(words).argmax(-1) == queue).float().mean().item()


if __name__ == "__main__":
    cfg = Config()
    train, test = make_tickets(cfg, 4000, 1), make_tickets(cfg, 1000, 2)
    trainer = Trainer(cfg)
    for epoch in range(cfg.epochs):
        loss = trainer.run_epoch(*train)
        print(f"[{epoch}] train loss {loss:.4f} test acc {trainer.accuracy(*test):.3f}")
    print(f"final test acc {trainer.accuracy(*test):.4f}")
