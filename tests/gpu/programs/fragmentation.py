"""Features of every third sample are kept: the pool is full of holes, and a long batch finds none that is large enough."""

import sys

import torch

MIB = 1 << 20
device = sys.argv[1]
total = torch.cuda.get_device_properties(0).total_memory
torch.cuda.set_per_process_memory_fraction(1300 * MIB / total)
model = torch.nn.Linear(64, 64).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
pieces = [torch.ones(6 * MIB // 4, device=device) for _ in range(150)]
kept, pieces = pieces[::3], None
for step in range(12):
    rows = 1 << 11 if step < 7 else 1 << 21
    x = torch.randn(rows, 64, device=device)  # here
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), torch.cuda.memory_reserved() // MIB, flush=True)
    del x, loss
