import random
from collections import deque

import torch
from torch import nn


class Corridor:
    def __init__(self, n=8):
        self.n = n

    def reset(self):
        self.pos, self.t = random.randrange(self.n - 1), 0
        return self.obs()

    def obs(self):
        v = torch.zeros(self.n)
        v[self.pos] = 1.0
        return v

    def step(self, a):
        self.pos = max(0, self.pos + (1 if a else -1))
        self.t += 1
        goal = self.pos == self.n - 1
        return self.obs(), 1.0 if goal else -0.02, goal or self.t >= 30, goal


class Agent:
    def __init__(self, n):
        self.q, self.target = (nn.Sequential(nn.Linear(n, 32), nn.Tanh(), nn.Linear(32, 2)) for _ in range(2))
        self.target.load_state_dict(self.q.state_dict())
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=3e-3)
        self.memory = deque(maxlen=3000)
        self.updates = 0

    def act(self, s, eps):
        if random.random() < eps:
            return random.randrange(2)
        with torch.no_grad():
            return int(self.q(s).argmax())

    def learn(self, n=32):
        s, a, r, s2, goal = zip(*random.sample(self.memory, n))
        s, s2, r, goal = torch.stack(s), torch.stack(s2), torch.tensor(r), torch.tensor(goal).float()
        with torch.no_grad():
            y = r + 0.95 * (1 - goal) * self.target(s2).max(1).values
        value = self.q(s).gather(1, torch.tensor(a)[:, None])[:, 0]
        loss = nn.functional.smooth_l1_loss(value, y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % 50 == 0:
            self.target.load_state_dict(self.q.state_dict())
        return loss.item()


random.seed(0)
torch.manual_seed(0)
env, losses = Corridor(), []
agent = Agent(env.n)
for episode in range(80):
    s, done = env.reset(), False
    while not done:
        a = agent.act(s, eps=0.3)
        s2, r, done, goal = env.step(a)
        agent.memory.append((s, a, r, s2, goal))
        s = s2
        if len(agent.memory) > 100:
            losses.append(agent.learn())
    if episode % 20 == 19:
        print(f"episode {episode + 1} td loss {sum(losses[-100:]) / 100:.5f}")
best = torch.tensor([1.0 * 0.95 ** (6 - p) - 0.02 * sum(0.95 ** k for k in range(6 - p)) for p in range(7)])
with torch.no_grad():
    err = (agent.q(torch.eye(8)[:7]).max(1).values - best).abs().mean().item()
print(f"final value error {err:.4f}")
