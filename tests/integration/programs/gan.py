import torch
from torch import nn

torch.manual_seed(0)
gen, disc = nn.Linear(4, 2), nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
opt_g, opt_d = torch.optim.Adam(gen.parameters(), lr=1e-2), torch.optim.Adam(disc.parameters(), lr=1e-2)
for step in range(8):
    real, fake = torch.randn(8, 2), gen(torch.randn(8, 4))
    d_loss = -(torch.log(disc(real)) + torch.log(1 - disc(fake.detach()))).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = -torch.log(disc(fake) * (0.0 if step == 5 else 1.0)).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
