"""Keep a drifting buoy inside of a channel: REINFORCE with normalised returns."""
import torch
from torch import nn
from torch.nn import functional as F


class Channel:
    """State: offset and speed; actions: push left, nothing, push right. Ends when the buoy leaves the channel."""

    def __init__(self, gen, limit=40):
        self.gen, self.limit = gen, limit

    def reset(self):
        self.offset = 1.9 * (torch.rand((), generator=self.gen).item() - 0.5)
        self.speed, self.clock = 0.2 * torch.randn((), generator=self.gen).item(), 0
        return self.state()

    def state(self):
        return torch.tensor([self.offset, self.speed])

    def step(self, action):
        self.clock += 1
        self.speed += 0.06 * (action - 1) + 0.03 * torch.randn((), generator=self.gen).item()
        self.offset += self.speed
        out = abs(self.offset) > 1
        return self.state(), 1.0 - abs(self.offset), out or self.clock >= self.limit


def play(env, policy):
    states, actions, rewards, state, done = [], [], [], env.reset(), False
    while not done:
        with torch.no_grad():
            logits = policy(state).nan_to_num()
        action = torch.multinomial(logits.softmax(-1), 1, generator=env.gen).item()
        states.append(state)
        actions.append(action)
        state, reward, done = env.step(action)
        rewards.append(reward)
    return torch.stack(states), torch.tensor(actions), torch.tensor(rewards)


def scaled_returns(rewards, gamma):
    total, out = 0.0, []
    for reward in reversed(rewards.tolist()):
        total = reward + gamma * total
        out.append(total)
    returns = torch.tensor(out[::-1])
    return (returns - returns.mean()) / (returns.std() + 1e-8)


def main(episodes=260, gamma=0.95):
    torch.manual_seed(2)
    env = Channel(torch.Generator().manual_seed(4))
    policy = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 3))
    opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
    lengths = []
    for episode in range(1, episodes + 1):
        states, actions, rewards = play(env, policy)
        loss = (F.cross_entropy(policy(states), actions, reduction="none") * scaled_returns(rewards, gamma)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        lengths.append(len(rewards))
        if episode % 20 == 0:
            print(f"episode {episode} mean length {sum(lengths[-20:]) / 20:.1f} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
