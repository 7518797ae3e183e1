# journals: 1
"""Loader workers that are spawned import the script again, under the name __mp_main__."""
import torch

print("imported as", __name__)


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.full((4,), float(index)) + torch.rand(1)


if __name__ == "__main__":
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001)
    loader = torch.utils.data.DataLoader(Squares(), batch_size=4, shuffle=True, num_workers=1, multiprocessing_context="spawn")
    for x in loader:
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(repr(loss.item()))
    torch.save(net.state_dict(), "final.pt")
