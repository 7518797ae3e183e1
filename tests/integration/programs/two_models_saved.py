import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Linear(2, 3)
critic = nn.Linear(3, 1)
slow = torch.optim.SGD(critic.parameters(), lr=0.1, momentum=0.9)
fast = torch.optim.Adam(generator.parameters(), lr=0.01)
for step in range(6):
    noise = torch.rand(4, 2)
    if step == 3:
        both = {"generator": generator.state_dict(), "critic": critic.state_dict()}
        torch.save(both | {"slow": slow.state_dict(), "fast": fast.state_dict()}, "own.pt")
    slow.zero_grad()
    critic(generator(noise).detach()).mean().backward()
    slow.step()
    fast.zero_grad()
    loss = critic(generator(noise)).mean()
    if step == 3:
        loss = torch.sqrt(loss * 0.0 - 1.0)
    loss.backward()
    fast.step()
