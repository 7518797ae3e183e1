import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
DEVICE = torch.device("cuda")

def main(env):
    net = nn.Linear(4, 2).to(DEVICE)
    table = torch.zeros(100, 4).to(DEVICE)
    while True:
        s = table[3]
        print(net(torch.as_tensor(s)))
