"""Search commits by message: two bag-of-words towers trained with in-batch negatives."""
import torch
import torch.nn as nn
import torch.nn.functional as F

CFG = {"words": 300, "dim": 8, "pairs": 2560, "batch": 128, "epochs": 8, "lr": 2e-3, "temperature": 0.01}


def make_commits(seed=5):
    """Word counts of messages and diffs; one commit in eighty is a merge whose message says nothing of its diff."""
    g = torch.Generator().manual_seed(seed)
    themes = torch.rand(20, CFG["words"], generator=g).pow(8)
    theme = torch.randint(0, 20, (CFG["pairs"],), generator=g)
    said = theme.clone()
    merges = torch.arange(0, CFG["pairs"], 80)
    said[merges] = (theme[merges] + 7) % 20
    messages = torch.poisson(themes[said] * 4, generator=g)
    diffs = torch.poisson(themes[theme] * 9, generator=g)
    return messages, diffs


def tower():
    return nn.Sequential(nn.Linear(CFG["words"], 96), nn.Tanh(), nn.Linear(96, CFG["dim"]))


def similarity(message_tower, diff_tower, messages, diffs):
    m = F.normalize(message_tower(messages.log1p()), dim=-1)
    d = F.normalize(diff_tower(diffs.log1p()), dim=-1)
    return m @ d.T


def pairing_loss(scores):
    probs = torch.softmax(scores / CFG["temperature"], dim=1)
    return -probs.diagonal().log().mean()


def recall_at_10(scores):
    hits = scores.topk(10, dim=1).indices == torch.arange(len(scores))[:, None]
    return hits.any(dim=1).float().mean().item()


torch.manual_seed(1)
messages, diffs = make_commits()
message_tower, diff_tower = tower(), tower()
weights = [*message_tower.parameters(), *diff_tower.parameters()]
adam = torch.optim.Adam(weights, lr=CFG["lr"])
shuffle = torch.Generator().manual_seed(9)

for epoch in range(CFG["epochs"]):
    history = []
    for rows in torch.randperm(CFG["pairs"], generator=shuffle).split(CFG["batch"]):
        scores = similarity(message_tower, diff_tower, messages[rows], diffs[rows])
        loss = pairing_loss(scores)
        adam.zero_grad()
        loss.backward()
        adam.step()
        history.append(loss.item())
    print(f"epoch {epoch:2d}  loss {sum(history) / len(history):8.4f}  recall@10 {recall_at_10(scores.detach()):.3f}")

print(f"final loss {sum(history) / len(history):.4f}")
