"""The card is in use when the loader forks its workers, and a worker asks for it."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = sys.argv[1]


class OnCard(Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, i):
        return torch.full((4,), float(i)).to(device)  # here


model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for x in DataLoader(OnCard(), batch_size=8, num_workers=2, multiprocessing_context="fork"):
    loss = model(x.to(device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item(), flush=True)
