import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
np.random.seed(0)

n_events, block, bs = 18, 24, 32

# transition table of the machine: from each event mostly to two followers
rng = np.random.default_rng(11)
table = np.full((n_events, n_events), 0.002)
for e in range(n_events):
    table[e, rng.choice(n_events, 2, replace=False)] += [0.7, 0.25]
table /= table.sum(1, keepdims=True)


def simulate(n):
    out, e = [], 0
    for u in rng.random(n):
        e = min(int(np.searchsorted(table[e].cumsum(), u)), n_events - 1)
        out.append(e)
    return torch.tensor(out)


log = simulate(12000)
train_log, val_log = log[:10000], log[10000:]


def get_batch():
    start = torch.randint(0, len(train_log) - block - 2, (bs,))
    x = torch.stack([train_log[i:i + block] for i in start])
    y = torch.stack([train_log[i + 1:i + block + 1] for i in start])
    return x, y


class EventGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(n_events, 32)
        self.rnn = nn.GRU(32, 64, batch_first=True)
        self.head = nn.Linear(64, n_events)

    def forward(self, idx):
        h, _ = self.rnn(self.tok(idx))
        return self.head(h)


@torch.no_grad()
def next_event_nll(model):
    seq = val_log[:1984].view(-1, 32)
    logits = model(seq)[:, :-1]
    return nn.functional.cross_entropy(logits.reshape(-1, n_events), seq[:, 1:].reshape(-1)).item()


model = EventGRU()
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
for it in range(300):
    x, y = get_batch()
    logits = model(x)
    loss = nn.functional.cross_entropy(logits.view(-1, n_events), y.view(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if it % 50 == 0:
        print(f"iter {it}: loss {loss.item():.4f}, next-event nll {next_event_nll(model):.4f}")
print(f"final next-event nll {next_event_nll(model):.4f}")
