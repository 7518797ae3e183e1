import torch
from torch import nn
class Agent:
    def __init__(self, actor, critic):
        self.actor, self.critic = actor, critic
        self.a_opt = torch.optim.Adam(actor.parameters())
        self.c_opt = torch.optim.Adam(critic.parameters())
    def update(self, s, r):
        self.a_opt.zero_grad()
        self.c_opt.zero_grad()
        v = self.critic(s)
        loss = (r - v).pow(2).mean() - self.actor(s).mean()
        loss.backward()
        self.a_opt.step()
        nn.utils.clip_grad_norm_(self.critic.parameters(), 0.5)
        self.c_opt.step()
def main(env, actor, critic):
    agent = Agent(actor, critic)
    seen = []
    while not env.over():
        seen.append(env.step())
        if len(seen) > 64:
            agent.update(*seen[-1])
