import torch
def fit(net, critic, loader):
    opt_d = torch.optim.Adam(critic.parameters())
    opt_g = torch.optim.Adam(net.parameters())
    for n, x in enumerate(loader):
        opt_d.zero_grad()
        opt_g.zero_grad()
        (critic(x).mean() + net(x).mean()).backward()
        if n % 2 == 0:
            opt_d.step()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt_g.step()
