import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
DEVICE = torch.device("cuda")

import copy
def main(env):
    net = nn.Linear(4, 2).to(DEVICE)
    actor = copy.deepcopy(net).to("cpu")
    goal = torch.zeros(4).to(DEVICE)
    s = env.reset()
    while True:
        s = env.step(actor(torch.tensor(s, dtype=torch.float32)).argmax().item())
