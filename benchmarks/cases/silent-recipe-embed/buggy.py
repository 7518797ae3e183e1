# map recipe text features to the (fixed) image embedding of the dish
import argparse
import torch
import torch.nn.functional as F
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--lr", type=float, default=2e-3)
parser.add_argument("--bs", type=int, default=40)
args = parser.parse_args()

torch.manual_seed(4)
mix = torch.randn(50, 24) / 7
text = torch.randn(2400, 50)
image = torch.tanh(text @ mix) + 0.2 * torch.randn(2400, 24)
tr, va = slice(0, 2000), slice(2000, None)

projector = nn.Sequential(nn.Linear(50, 96), nn.GELU(), nn.LayerNorm(96), nn.Linear(96, 24))
optimizer = torch.optim.AdamW(projector.parameters(), lr=args.lr)


def pair_loss(pred, target):
    sim = F.cosine_similarity(pred, target, dim=-1)
    return sim.mean()


def retrieval_rank():
    projector.eval()
    with torch.no_grad():
        p = F.normalize(projector(text[va]), dim=-1)
        t = F.normalize(image[va], dim=-1)
        s = p @ t.T
        rank = (s > s.diag()[:, None]).sum(1).float()
    projector.train()
    return rank.mean().item()


for epoch in range(args.epochs):
    perm = torch.randperm(2000)
    for i in range(0, 2000, args.bs):
        b = perm[i:i + args.bs]
        loss = pair_loss(projector(text[tr][b]), image[tr][b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f} mean rank {retrieval_rank():.1f}")
print(f"final mean rank {retrieval_rank():.2f}")
