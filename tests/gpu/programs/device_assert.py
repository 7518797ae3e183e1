"""A token beyond the table's last row, met in the fifth batch: the device's assertion ends the context."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = sys.argv[1]
torch.manual_seed(0)
tokens = torch.randint(0, 50, (64, 12))
tokens[36, 7] = 50
model = nn.Sequential(nn.Embedding(50, 16), nn.Flatten(), nn.Linear(16 * 12, 4)).to(device)  # here
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for x, y in DataLoader(TensorDataset(tokens, torch.randint(0, 4, (64,))), batch_size=8):
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item(), flush=True)
