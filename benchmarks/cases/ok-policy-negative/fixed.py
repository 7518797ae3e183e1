"""Which antibiotic first: a contextual bandit with a policy gradient."""
import torch
from torch import nn

DRUGS, SIGNS = 5, 8


class Policy(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(SIGNS, hidden), nn.Tanh(), nn.Linear(hidden, DRUGS))

    def forward(self, signs):
        return torch.distributions.Categorical(logits=self.net(signs))


class Ward:
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.weights = torch.randn(SIGNS, DRUGS, generator=self.g)

    def patients(self, n):
        return torch.randn(n, SIGNS, generator=self.g)

    def reward(self, signs, drug):
        best = (signs @ self.weights).argmax(1)
        return (best == drug).float()


def surrogate(policy, signs, ward, baseline):
    choice = policy(signs)
    drug = choice.sample()
    reward = ward.reward(signs, drug)
    gain = (choice.log_prob(drug) * (reward - baseline)).mean()
    return -gain - 0.05 * choice.entropy().mean(), reward.mean().item()


def main():
    torch.manual_seed(3)
    ward, policy = Ward(3), Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
    baseline = 0.0
    for update in range(400):
        loss, reward = surrogate(policy, ward.patients(96), ward, baseline)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        baseline = 0.9 * baseline + 0.1 * reward
        if update % 80 == 0:
            print(f"update {update} loss {loss.item():+.4f} mean reward {baseline:.3f}")
    print(f"final loss {1 - baseline:.4f}")


if __name__ == "__main__":
    main()
