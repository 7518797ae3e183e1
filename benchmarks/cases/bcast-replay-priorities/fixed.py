"""Value learning on a chain of states with prioritised replay."""
import torch
from torch import nn

STATES, GAMMA = 9, 0.9


class Buffer:
    def __init__(self, size, seed):
        g = torch.Generator().manual_seed(seed)
        self.g = g
        self.state = torch.randint(0, STATES, (size,), generator=g)
        self.after = (self.state + torch.randint(0, 3, (size,), generator=g)).clamp(max=STATES - 1)
        self.reward = (self.after == STATES - 1).float()[:, None]
        self.priority = torch.ones(size)

    def sample(self, n):
        rows = torch.multinomial(self.priority, n, generator=self.g)
        return rows, self.state[rows], self.reward[rows], self.after[rows]

    def update(self, rows, priority):
        self.priority[rows] = priority + 1e-2


class Value(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.net = nn.Sequential(nn.Embedding(STATES, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, state):
        return self.net(state).squeeze(-1)


def difference(value, target_net, state, reward, after):
    with torch.no_grad():
        follow = target_net(after) * (after < STATES - 1)
    target = reward.squeeze(1) + GAMMA * follow
    td = target - value(state)
    return td


def main():
    torch.manual_seed(5)
    buffer, value, target_net = Buffer(600, seed=5), Value(), Value()
    target_net.load_state_dict(value.state_dict())
    optimizer = torch.optim.Adam(value.parameters(), lr=1e-2)
    for step in range(200):
        rows, state, reward, after = buffer.sample(32)
        td = difference(value, target_net, state, reward, after)
        loss = nn.functional.huber_loss(td, torch.zeros_like(td))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        buffer.update(rows, td.detach().abs())
        if step % 20 == 0:
            target_net.load_state_dict(value.state_dict())
            print(f"step {step} loss {loss.item():.4f}")
    print(f"final loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
