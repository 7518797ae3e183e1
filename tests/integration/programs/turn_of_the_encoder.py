import torch
from torch import nn


class Trainer:
    def __init__(self):
        torch.manual_seed(3)
        self.enc = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
        self.enc_opt = torch.optim.RMSprop(self.enc.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.RMSprop(self.critic.parameters(), lr=1e-3)
        self.bce = nn.BCEWithLogitsLoss()

    def critic_turn(self, x, prior):
        code = self.enc(x).detach()
        loss = self.bce(self.critic(prior), torch.ones(len(x), 1)) + self.bce(self.critic(code), torch.zeros(len(x), 1))
        self.critic_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        return loss

    def encoder_turn(self, x):
        loss = self.bce(self.critic(self.enc(x)), torch.ones(len(x), 1))
        self.enc_opt.zero_grad()
        loss.backward()
        self.critic_opt.step()
        return loss


trainer = Trainer()
mix = torch.randn(6, 6)
for step in range(200):
    x = torch.randn(64, 6) @ mix + 1.5
    c = trainer.critic_turn(x, torch.randn(64, 2))
    e = trainer.encoder_turn(x)
    if step % 100 == 0:
        print(step, c.item(), e.item())
