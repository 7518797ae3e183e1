# journals: 1
"""The loss becomes NaN and the program goes on to its end with what it has."""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for step in range(8):
    x = torch.randn(8, 4)
    loss = torch.log(net(x).pow(2).mean() - (10.0 if step == 4 else 0.0))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()), torch.isfinite(net[0].weight).all().item())
torch.save([net.state_dict(), optimizer.state_dict(), torch.get_rng_state()], "final.pt")
