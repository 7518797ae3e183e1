import torch
from torch import nn
from torch.distributions import Categorical


class Shop:
    """Contextual choice: the best of 5 offers depends on the customer's 6 features."""

    def __init__(self, seed=0):
        self.g = torch.Generator().manual_seed(seed)
        self.w = torch.randn(6, 5, generator=self.g)

    def customers(self, n):
        return torch.randn(n, 6, generator=self.g)

    def reward(self, x, a):
        value = torch.sigmoid(x @ self.w)
        return (torch.rand(len(x), generator=self.g) < value[torch.arange(len(x)), a]).float()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 5))

    def forward(self, x):
        return Categorical(logits=self.net(x))


def main():
    torch.manual_seed(1)
    shop, policy = Shop(), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    baseline, rewards = 0.5, []
    for it in range(1, 601):
        x = shop.customers(128)
        dist = policy(x)
        action = dist.sample()
        r = shop.reward(x, action)
        advantage = r - baseline
        baseline = 0.95 * baseline + 0.05 * r.mean().item()
        loss = -(dist.log_prob(action) * advantage).mean() - 0.01 * dist.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rewards.append(r.mean().item())
        if it % 100 == 0:
            print(f"iter {it} loss {loss.item():+.4f} reward {sum(rewards[-100:]) / 100:.4f}")
    print(f"final mean reward {sum(rewards[-100:]) / 100:.4f}")


if __name__ == "__main__":
    main()
