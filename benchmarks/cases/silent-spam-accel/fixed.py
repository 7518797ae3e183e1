import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class Updater:
    """forward, backward, clip and step in one place, so that the loop stays short"""

    def __init__(self, model, lr=5e-3, max_norm=1.0):
        self.model, self.max_norm = model, max_norm
        self.optim = torch.optim.RMSprop(model.parameters(), lr=lr)
        self.crit = nn.BCEWithLogitsLoss()

    def update(self, tokens, label):
        loss = self.crit(self.model(tokens), label)
        loss.backward()
        norm = clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.optim.step()
        self.optim.zero_grad()
        return loss.item(), norm.item()


class SpamNet(nn.Module):
    def __init__(self, vocab=300):
        super().__init__()
        self.emb = nn.Embedding(vocab, 24)
        self.conv = nn.Conv1d(24, 32, 3, padding=1)
        self.fc = nn.Linear(32, 1)

    def forward(self, tokens):
        h = self.emb(tokens).transpose(1, 2)
        h = torch.relu(self.conv(h)).amax(-1)
        return self.fc(h).squeeze(-1)


def mails(n, seed):
    g = torch.Generator().manual_seed(seed)
    tok = torch.randint(30, 300, (n, 25), generator=g)
    spam = torch.rand(n, generator=g) < 0.5
    where = torch.randint(0, 24, (n,), generator=g)
    bad = torch.randint(0, 8, (n,), generator=g)
    r = torch.arange(n)[spam]
    tok[r, where[spam]] = bad[spam]
    tok[r, where[spam] + 1] = bad[spam] + 8
    return tok, spam.float()


torch.manual_seed(1)
tok, spam = mails(2000, 0)
ttok, tspam = mails(500, 1)
net = SpamNet()
up = Updater(net)
for epoch in range(4):
    for i, b in enumerate(torch.randperm(2000).split(50)):
        loss, norm = up.update(tok[b], spam[b])
    with torch.no_grad():
        test = up.crit(net(ttok), tspam).item()
    print(f"epoch {epoch} loss {loss:.4f} grad norm {norm:.3f} test loss {test:.4f}")
print(f"final test loss {test:.4f}")
