import torch
from torch import nn
import torch.nn.functional as F

N, FEATS, CLASSES = 300, 12, 4


def make_graph(seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, CLASSES, (N,), generator=g)
    x = torch.randn(N, FEATS, generator=g)
    hubs = torch.randperm(N, generator=g)[:40]
    x[hubs] *= 0.2
    x[hubs, y[hubs]] += 1.5
    x[hubs, FEATS - 1] += 2.0
    adj = torch.rand(N, N, generator=g) < 0.02
    cites = torch.where(y[:, None] == y[hubs][None], 0.5, 0.04)
    adj[:, hubs] |= torch.rand(N, 40, generator=g) < cites
    adj = adj | torch.eye(N).bool()
    return x, y, adj


class GraphAttention(nn.Module):
    def __init__(self, fin, fout):
        super().__init__()
        self.w = nn.Linear(fin, fout, bias=False)
        self.a_recv, self.a_send = nn.Linear(fout, 1), nn.Linear(fout, 1)

    def forward(self, x, adj):
        h = self.w(x)
        att = F.leaky_relu(self.a_recv(h) + self.a_send(h).T, 0.2)
        att = att.masked_fill(~adj, -1e9)
        att = torch.softmax(att, dim=0)
        return att @ h


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.l2 = GraphAttention(FEATS, 24), GraphAttention(24, CLASSES)

    def forward(self, x, adj):
        return self.l2(F.elu(self.l1(x, adj)), adj)


torch.manual_seed(0)
x, y, adj = make_graph()
train_mask = torch.rand(N) < 0.4
net = GAT()
opt = torch.optim.Adam(net.parameters(), lr=1e-2, weight_decay=5e-4)
for epoch in range(201):
    net.train()
    out = net(x, adj)
    loss = F.cross_entropy(out[train_mask], y[train_mask])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if epoch % 40 == 0:
        net.eval()
        with torch.no_grad():
            test = (net(x, adj)[~train_mask].argmax(1) == y[~train_mask]).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} test accuracy {test:.4f}")
print(f"final test accuracy {test:.4f}")
