"""Actor-critic on a corridor: many walkers at once, returns and a learned baseline."""
import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    def __init__(self, walkers, length=9, seed=0):
        self.gen = torch.Generator().manual_seed(seed)
        self.walkers, self.length = walkers, length

    def reset(self):
        self.place = torch.randint(0, self.length, (self.walkers,), generator=self.gen)
        self.goal = torch.randint(0, self.length, (self.walkers,), generator=self.gen)
        return self.observe()

    def observe(self):
        eye = torch.eye(self.length)
        return torch.cat([eye[self.place], eye[self.goal]], 1)

    def step(self, move):
        before = (self.place - self.goal).abs()
        self.place = (self.place + 2 * move - 1).clamp(0, self.length - 1)
        return self.observe(), (before - (self.place - self.goal).abs()).float()


class ActorCritic(nn.Module):
    def __init__(self, inputs, hidden=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh())
        self.policy = nn.Linear(hidden, 2)
        self.value = nn.Linear(hidden, 1)

    def forward(self, seen):
        h = self.body(seen)
        return Categorical(logits=self.policy(h)), self.value(h)


def rollout(world, net, steps, gamma=0.9):
    seen, logs, values, rewards = world.reset(), [], [], []
    for _ in range(steps):
        policy, value = net(seen)
        move = policy.sample()
        seen, reward = world.step(move)
        logs.append(policy.log_prob(move))
        values.append(value)
        rewards.append(reward)
    returns, tail = [], torch.zeros(world.walkers)
    for reward in reversed(rewards):
        tail = reward + gamma * tail
        returns.insert(0, tail)
    return torch.stack(logs), torch.stack(values), torch.stack(returns), sum(r.mean().item() for r in rewards)


def update(net, optimizer, logs, values, returns):
    advantage = returns.flatten() - values.flatten()
    actor = -(logs.flatten() * advantage.detach()).mean()
    critic = advantage.pow(2).mean()
    optimizer.zero_grad()
    (actor + 0.5 * critic).backward()
    optimizer.step()
    return (returns.flatten() - values.flatten()).pow(2).mean().item()


def main():
    torch.manual_seed(6)
    world, net = Corridor(24), ActorCritic(18)
    optimizer = torch.optim.Adam(net.parameters(), lr=6e-3)
    scores, unexplained = [], []
    for episode in range(120):
        *experience, score = rollout(world, net, 8)
        unexplained.append(update(net, optimizer, *experience))
        scores.append(score)
        if episode % 40 == 39:
            print("episode", episode + 1, "score", round(sum(scores[-40:]) / 40, 3))
    print("final loss", round(sum(unexplained[-30:]) / 30, 3))


if __name__ == "__main__":
    main()
