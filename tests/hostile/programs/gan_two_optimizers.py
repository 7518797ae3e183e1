# journals: 1
"""Two optimizers that step in turn, the second on what the first has changed."""
import torch

torch.manual_seed(0)
generator, critic = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1)
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-2)
optimizer_d = torch.optim.RMSprop(critic.parameters(), lr=1e-2)
for step in range(6):
    real, fake = torch.randn(16, 8), generator(torch.randn(16, 4))
    optimizer_d.zero_grad()
    loss_d = critic(fake.detach()).mean() - critic(real).mean()
    loss_d.backward()
    optimizer_d.step()
    for parameter in critic.parameters():
        parameter.data.clamp_(-0.1, 0.1)
    if step % 2:
        optimizer_g.zero_grad()
        loss_g = -critic(fake).mean()
        loss_g.backward()
        optimizer_g.step()
        print("g", repr(loss_g.item()))
    print("d", repr(loss_d.item()))
torch.save([generator.state_dict(), critic.state_dict(), optimizer_g.state_dict()], "final.pt")
