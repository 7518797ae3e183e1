import torch
from torch import nn
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 12); self.head = nn.Linear(12, 2); self.memory = None
    def forward(self, obs):
        if self.memory is None:
            self.memory = torch.zeros(len(obs), 12)
        self.memory = self.cell(obs, self.memory)
        return self.head(self.memory)
def train(policy, opt, steps):
    for step in range(steps):
        obs = torch.randn(5, 6)
        loss = (policy(obs) - obs[:, :2]).pow(2).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    return loss.item()
torch.manual_seed(1)
p = Policy(); print(train(p, torch.optim.Adam(p.parameters(), 1e-2), 30))
