"""Draw a ring of cliques: positions come from a small network over node features and minimise the stress."""
import itertools

import torch

torch.manual_seed(8)
CLIQUES, SIZE = 9, 5
N = CLIQUES * SIZE

# hop distances by Floyd-Warshall
hops = torch.full((N, N), 1e6)
hops.fill_diagonal_(0)
for c in range(CLIQUES):
    members = range(c * SIZE, (c + 1) * SIZE)
    for i, j in itertools.permutations(members, 2):
        hops[i, j] = 1
    here, there = c * SIZE, ((c + 1) % CLIQUES) * SIZE + 2
    hops[here, there] = hops[there, here] = 1
for k in range(N):
    hops = torch.minimum(hops, hops[:, k:k + 1] + hops[k:k + 1, :])

off_diagonal = ~torch.eye(N, dtype=torch.bool)
features = torch.cat([torch.eye(N), hops / hops.max()], dim=1)
place = torch.nn.Sequential(
    torch.nn.Linear(features.shape[1], 64),
    torch.nn.Tanh(),
    torch.nn.Linear(64, 2),
)
with torch.no_grad():
    place[-1].weight.mul_(4.0)
optimiser = torch.optim.Adam(place.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 400)


def stress(points):
    gap = points[:, None, :] - points[None, :, :]
    dist = ((gap ** 2).sum(-1) + 1e-12) ** 0.5
    error = (dist - hops)[off_diagonal]
    return (error ** 2 / hops[off_diagonal] ** 2).mean()


def closest(points):
    return torch.pdist(points.detach()).min().item()


for iteration in range(400):
    points = place(features)
    value = stress(points)
    optimiser.zero_grad()
    value.backward()
    optimiser.step()
    schedule.step()
    if iteration < 4 or iteration % 80 == 0:
        print(f"iteration {iteration:3d}  stress {value.item():.4f}  closest pair {closest(points):.3f}")

print(f"final loss {value.item():.4f}")
