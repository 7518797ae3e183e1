import torch
from torch import nn
from torch.utils.data import DataLoader
device = torch.device("cuda")
def main(env):
    net = nn.Linear(4, 2).to(device)
    goal = torch.zeros(4).to(device)
    s = env.reset()
    for _ in range(3):
        s = env.step(net(torch.tensor(s, dtype=torch.float32).to(goal)).argmax().item())
        s = env.step(net(torch.zeros(4).new_tensor(s, device=device)).argmax().item())
        s = env.step(net(torch.zeros(4, 4)[goal.long()]).argmax().item())
        s = env.step(net(torch.zeros(4).expand_as(goal).type(torch.cuda.FloatTensor)).argmax().item())
        s = env.step(net(torch.zeros(4).type("torch.cuda.FloatTensor")).argmax().item())
        net2 = net if s else None
        net2(torch.zeros(4))
