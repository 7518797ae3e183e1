import torch
def fit(net, loader, probe):
    opt = torch.optim.Adam(net.parameters())
    for n, x in enumerate(loader):
        if probe:
            loss = net(x).mean()
            loss.backward()
            print([p.grad.norm() for p in net.parameters()])
            opt.zero_grad()
        else:
            opt.zero_grad()
            grads = torch.autograd.grad(net(x).mean(), list(net.parameters()))
            for p, g in zip(net.parameters(), grads):
                p.grad = g
            opt.step()
