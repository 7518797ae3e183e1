# journals: 1
"""Forked loader workers, started again each epoch, one of whose items fails in the last epoch."""
import torch


class Numbers(torch.utils.data.Dataset):
    bad = False

    def __len__(self):
        return 12

    def __getitem__(self, index):
        if self.bad and index == 7:
            raise LookupError(f"no item {index}")
        return torch.full((4,), float(index)) + torch.rand(1)


torch.manual_seed(0)
data, net = Numbers(), torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True, num_workers=2, multiprocessing_context="fork")
for epoch in range(3):
    data.bad = epoch == 2
    try:
        for x in loader:
            loss = net(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(epoch, repr(loss.item()))
    except LookupError as error:
        print(error)
torch.save(net.state_dict(), "final.pt")
