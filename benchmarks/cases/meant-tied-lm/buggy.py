import torch
import torch.nn as nn
import torch.nn.functional as F


class TiedLM(nn.Module):
    def __init__(self, vocab=40, dim=48):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.decoder = nn.Linear(dim, vocab)
        self.decoder.weight = self.embedding.weight
        nn.init.normal_(self.embedding.weight, std=0.1)

    def forward(self, x, state=None):
        out, state = self.rnn(self.embedding(x), state)
        return self.decoder(out), state


def corpus(n, vocab=40, seed=0):
    g = torch.Generator().manual_seed(seed)
    nxt = torch.stack([torch.randperm(vocab, generator=g) for _ in range(3)], 1)
    choice = torch.multinomial(torch.tensor([0.75, 0.2, 0.05]), n, replacement=True, generator=g)
    ids = [0]
    for c in choice.tolist():
        ids.append(int(nxt[ids[-1], c]))
    return torch.tensor(ids[:n])


def batchify(ids, bsz):
    return ids[: len(ids) // bsz * bsz].view(bsz, -1)


def main(bptt=20):
    torch.manual_seed(10)
    data = batchify(corpus(9000), 20)
    model = TiedLM()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        state, total, n = None, 0.0, 0
        for i in range(0, data.size(1) - 1 - bptt, bptt):
            x, y = data[:, i:i + bptt], data[:, i + 1:i + 1 + bptt]
            if state is not None:
                state = tuple(s.detach() for s in state)
            logits, state = model(x, state)
            loss = F.cross_entropy(logits.reshape(-1, 40), y.reshape(-1))
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total, n = total + loss.item(), n + 1
        print(f"epoch {epoch} nll {total / n:.4f}")
    print(f"final nll {total / n:.4f}")


if __name__ == "__main__":
    main()
