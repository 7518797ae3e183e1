import math
import torch
from torch import nn

JOINTS = ["shoulder", "elbow", "wrist", "gripper"]


class ArmPolicy(nn.Module):
    def __init__(self, obs_dim=9, width=24):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs_dim, width), nn.Tanh())
        self.heads = nn.ModuleDict({j: nn.Linear(width, 1) for j in JOINTS})

    def forward(self, obs):
        z = self.trunk(obs)
        return torch.cat([self.heads[j](z) for j in JOINTS], dim=1)


class DemoBuffer:
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        w = torch.randn(9, 4, generator=torch.Generator().manual_seed(2)) / 2
        self.obs = torch.randn(n, 9, generator=g)
        self.act = math.pi * torch.tanh(self.obs @ w) + 0.05 * torch.randn(n, 4, generator=g)

    def sample(self, n):
        i = torch.randint(0, len(self.obs), (n,))
        return self.obs[i], self.act[i]


def behaviour_cloning(steps=900):
    torch.manual_seed(66)
    demos, held_out = DemoBuffer(3000, 0), DemoBuffer(500, 1)
    policy = ArmPolicy()
    optim = torch.optim.Adam(policy.parameters(), lr=5e-3)
    for step in range(1, steps + 1):
        obs, act = demos.sample(64)
        loss = (policy(obs) - act).pow(2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        if step % 150 == 0:
            print(f"step {step} bc loss {loss.item():.4f}")
    with torch.no_grad():
        return (policy(held_out.obs) - held_out.act).pow(2).mean().item()


print(f"final held-out error {behaviour_cloning():.4f}")
