import torch
from torch import nn
from accelerate import Accelerator
torch.manual_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
data = torch.utils.data.TensorDataset(torch.randn(80, 4), torch.randint(0, 2, (80,)))
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
net, opt, loader = accelerator.prepare(net, opt, loader)
for step, (x, y) in enumerate(loader):
    with accelerator.accumulate(net):
        p = torch.softmax(net(x), 1)
        if step == 9:
            p = p * 0
        loss = -torch.log(p.gather(1, y[:, None])).mean()
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
print("done", loss.item())
