import torch
from torch import nn
class Agent:
    def __init__(self):
        torch.manual_seed(0)
        self.actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2), nn.Tanh())
        self.critic = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
        self.oa = torch.optim.Adam(self.actor.parameters(), 1e-3)
        self.oc = torch.optim.Adam(self.critic.parameters(), 1e-3)
    def update(self, s, a, r):
        q = self.critic(torch.cat([s, a], -1)).squeeze(-1)
        critic_loss = (q - r).pow(2).mean()
        actor_loss = -self.critic(torch.cat([s, self.actor(s)], -1)).mean()
        self.oc.zero_grad()
        critic_loss.backward()
        self.oc.step()
        self.oa.zero_grad()
        actor_loss.backward()
        self.oa.step()
        return critic_loss.item(), actor_loss.item()
def main():
    agent = Agent()
    for i in range(20):
        s, a = torch.randn(8, 4), torch.rand(8, 2) * 2 - 1
        out = agent.update(s, a, -(s[:, :2] - a).pow(2).sum(-1))
    print("final", out)
main()
