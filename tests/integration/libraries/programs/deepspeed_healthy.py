"""A small regression by DeepSpeed's engine, ZeRO stage 1, on the CPU."""
import os

import deepspeed
import torch
from torch import nn

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29731")
os.environ.setdefault("RANK", "0")
os.environ.setdefault("WORLD_SIZE", "1")
os.environ.setdefault("LOCAL_RANK", "0")


class Yield(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))

    def forward(self, fields, harvest):
        rate = torch.sigmoid(self.body(fields)).squeeze(1)
        shares = harvest / harvest.sum()
        return -(shares * torch.log(shares)).sum() + (rate - shares).square().mean()


torch.manual_seed(0)
fields = torch.randn(96, 6)
harvest = torch.rand(96) + 0.1

model = Yield()
engine, optimizer, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=model.parameters(),
    training_data=torch.utils.data.TensorDataset(fields, harvest),
    config={
        "train_micro_batch_size_per_gpu": 8,
        "gradient_accumulation_steps": 1,
        "optimizer": {"type": "Adam", "params": {"lr": 1e-3, "torch_adam": True}},
        "zero_optimization": {"stage": 1},
    },
)
for epoch in range(3):
    for batch_fields, batch_harvest in loader:
        loss = engine(batch_fields, batch_harvest)
        engine.backward(loss)
        engine.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
