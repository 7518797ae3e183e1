"""A script without functions: the test's labels were counted from one, the training's from zero."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(64, 5), torch.randint(0, 4, (64,))
for step in range(20):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()

model.eval()
test_x = torch.randn(32, 5)
test_y = torch.randint(0, 4, (32,)) + 1
with torch.no_grad():
    logits = model(test_x)
    error = nn.functional.cross_entropy(logits, test_y)
print(float(error))
