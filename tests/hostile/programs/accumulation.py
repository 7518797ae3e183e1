# journals: 1
"""Gradients of three batches add up before a step; the last window is short."""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
loader = torch.utils.data.DataLoader(torch.randn(40, 4), batch_size=5, shuffle=True)
for index, x in enumerate(loader):
    loss = net(x).pow(2).mean() / 3
    loss.backward()
    print(index, repr(loss.item()), repr(net[0].weight.grad.norm().item()))
    if (index + 1) % 3 == 0 or index + 1 == len(loader):
        optimizer.step()
        optimizer.zero_grad(set_to_none=index == 2)
        print("stepped", net[0].weight.grad is None)
torch.save([net.state_dict(), optimizer.state_dict()], "final.pt")
