"""A table that is not in the state_dict stays on meta when the model is filled by assignment."""
import torch
from torch import nn


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(4.0), persistent=False)
        self.out = nn.Linear(4, 1)

    def forward(self, x):
        return self.out(x + self.table)


torch.manual_seed(0)
state = Shift().state_dict()
with torch.device("meta"):
    model = Shift()
model.load_state_dict(state, assign=True)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(3):
    loss = model(torch.randn(8, 4)).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
