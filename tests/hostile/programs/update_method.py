# journals: 1
"""The loop only calls agent.update(), which steps; the environment has a step() of its own."""
import torch

torch.manual_seed(0)


class Environment:
    def __init__(self):
        self.position = 0.0

    def step(self, action):
        self.position += float(action)
        return -abs(self.position - 1.0)


class Agent:
    def __init__(self):
        self.policy = torch.nn.Linear(1, 1)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=0.05)

    def update(self, chosen, reward):
        loss = -(chosen * reward).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


environment, agent = Environment(), Agent()
for episode in range(2):
    for step in range(4):
        action = agent.policy(torch.tensor([environment.position])) + torch.randn(1)
        reward = environment.step(action.detach())
        print(episode, step, repr(agent.update(action, reward)), repr(environment.position))
torch.save(agent.policy.state_dict(), "final.pt")
