"""Ranking of search results; the whole model in bfloat16 to halve its memory."""
import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, fields=16, width=64):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(fields, width), nn.ReLU(), nn.LayerNorm(width))
        self.relevance = nn.Linear(width, 1)

    def forward(self, documents):
        return self.relevance(self.encode(documents)).squeeze(-1)


def lists(gen, queries=24, per_query=8):
    documents = torch.randn(queries, per_query, 16, generator=gen)
    clicked = (documents[..., :6].sum(-1) + documents[..., 6] * documents[..., 7]).argmax(1)
    return documents, clicked


def make(precision):
    model = Ranker().to(precision)
    optimizer = torch.optim.SGD(model.parameters(), lr=2e-3, momentum=0.5)
    return model, optimizer


def train(steps, precision=torch.float32):
    torch.manual_seed(8)
    gen = torch.Generator().manual_seed(4)
    model, optimizer = make(precision)
    sums = []
    for step in range(steps):
        documents, clicked = lists(gen)
        scores = model(documents.to(precision))
        loss = nn.functional.cross_entropy(scores.float(), clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sums.append(loss.item())
        if step % 300 == 299:
            print(f"{step + 1} listwise loss {sum(sums[-300:]) / 300:.4f}")
    return sum(sums[-200:]) / 200


if __name__ == "__main__":
    print(f"final loss {train(1800):.4f}")
