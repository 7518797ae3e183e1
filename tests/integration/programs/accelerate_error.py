import torch
from torch import nn
from accelerate import Accelerator
torch.manual_seed(0)
accelerator = Accelerator(cpu=True)
net = nn.Sequential(nn.Embedding(50, 8), nn.Flatten(), nn.Linear(48, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
ids = torch.randint(0, 50, (80, 6)); ids[37, 2] = 57
data = torch.utils.data.TensorDataset(ids, torch.randint(0, 3, (80,)))
net, opt, loader = accelerator.prepare(net, opt, torch.utils.data.DataLoader(data, batch_size=4))
for ids, y in loader:
    loss = nn.functional.cross_entropy(net(ids), y)
    accelerator.backward(loss)
    opt.step()
    opt.zero_grad()
print("done", loss.item())
