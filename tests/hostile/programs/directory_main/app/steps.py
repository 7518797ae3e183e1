import torch


def train(net, optimizer):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(repr(loss.item()), __name__, __spec__.name, __cached__.rsplit("/", 1)[-1])
