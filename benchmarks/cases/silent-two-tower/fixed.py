import torch
import torch.nn.functional as F
from torch import nn

N_USERS, N_ITEMS, DIM = 200, 150, 6


class Tower(nn.Module):
    def __init__(self, n, side, dim=DIM):
        super().__init__()
        self.id_emb = nn.Embedding(n, 16)
        self.mlp = nn.Sequential(nn.Linear(16 + side, 32), nn.ReLU(), nn.Linear(32, dim))

    def forward(self, ids, side):
        return self.mlp(torch.cat([self.id_emb(ids), side], dim=-1))


def ratings(seed=0, n=12000):
    g = torch.Generator().manual_seed(seed)
    us, its = torch.randn(N_USERS, 4, generator=g), torch.randn(N_ITEMS, 4, generator=g)
    uh, ih = torch.randn(N_USERS, 3, generator=g), torch.randn(N_ITEMS, 3, generator=g)
    u = torch.randint(0, N_USERS, (n,), generator=g)
    i = torch.randint(0, N_ITEMS, (n,), generator=g)
    r = (uh[u] * ih[i]).sum(1) + torch.sin(2 * its[i, 0]) * us[u, 1] + 0.2 * torch.randn(n, generator=g)
    return us, its, u, i, r


def main():
    torch.manual_seed(8)
    user_side, item_side, u, i, r = ratings()
    n_train = 10000
    user_tower, item_tower = Tower(N_USERS, 4), Tower(N_ITEMS, 4)
    opt_user = torch.optim.Adam(user_tower.parameters(), lr=4e-3)
    opt_item = torch.optim.Adam(item_tower.parameters(), lr=4e-3)

    def score(idx):
        return (user_tower(u[idx], user_side[u[idx]]) * item_tower(i[idx], item_side[i[idx]])).sum(-1)

    for epoch in range(1, 11):
        running = 0.0
        for idx in torch.randperm(n_train).split(200):
            loss = F.mse_loss(score(idx), r[idx])
            opt_user.zero_grad()
            opt_item.zero_grad()
            loss.backward()
            opt_user.step()
            opt_item.step()
            running += loss.item() * len(idx)
        if epoch % 2 == 0:
            print(f"epoch {epoch} train mse {running / n_train:.4f}")
    with torch.no_grad():
        test = F.mse_loss(score(torch.arange(n_train, len(r))), r[n_train:])
    print(f"test mse {test.item():.4f}")
    print(f"final train mse {running / n_train:.4f}")


if __name__ == "__main__":
    main()
