import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
x = torch.randn(240, 10)
y = ((x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long())
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=60)
loader = DataLoader(TensorDataset(x, y), batch_size=12, shuffle=True)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
for epoch in range(6):
    for inputs, targets in loader:
        with accelerator.accumulate(model):
            scores = model(inputs)
            loss = nn.functional.cross_entropy(scores, targets)
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    accelerator.print(f"{epoch}: {loss.item():.4f}")
