import torch
from torch import nn
from torch.utils.data import DataLoader
device = torch.device("cuda")
def main(data):
    net = nn.Linear(4, 1).to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch, y in DataLoader(data, batch_size=8, shuffle=True):
        for k in batch:
            batch[k] = batch[k].to(device)
        y = y.to(device)
        opt.zero_grad()
        nn.functional.mse_loss(net(batch), y).backward()
        opt.step()
