import torch
def fit(net, disc, loader):
    opt = torch.optim.Adam(net.parameters())
    opt2 = torch.optim.Adam(disc.parameters())
    s2 = torch.optim.lr_scheduler.StepLR(opt2, 1)
    for n, x in enumerate(loader):
        opt.zero_grad(); opt2.zero_grad()
        if n > 10:
            (net(x).mean() + disc(x).mean()).backward()
            s2.step()
            opt.step()
        else:
            disc(x).mean().backward()
            opt2.step()
