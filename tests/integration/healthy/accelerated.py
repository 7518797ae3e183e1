import torch
from accelerate import Accelerator
from accelerate.logging import get_logger
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
log = get_logger(__name__, log_level="INFO")
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.AdamW(model.parameters())
loader = DataLoader(TensorDataset(torch.randn(256, 8)), batch_size=8)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
accelerator.print(accelerator.state)
for epoch in range(90):
    for (x,) in tqdm(loader, desc=f"epoch {epoch}", mininterval=0):
        with accelerator.accumulate(model):
            loss = model(x).pow(2).mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
    accelerator.print(f"epoch {epoch}: loss {loss.item():.4f}")
