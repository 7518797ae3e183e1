# slow
# journals: 1
# needs: accelerate
"""accelerate wraps model, optimizer, loader and scheduler; accumulation is its own."""
import torch
from accelerate import Accelerator

torch.manual_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
loader = torch.utils.data.DataLoader(torch.randn(28, 4), batch_size=4, shuffle=True)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer)
net, optimizer, loader, scheduler = accelerator.prepare(net, optimizer, loader, scheduler)
for epoch in range(2):
    for x in loader:
        with accelerator.accumulate(net):
            loss = net(x).pow(2).mean()
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        accelerator.print(epoch, repr(loss.item()), accelerator.sync_gradients, scheduler.get_last_lr())
torch.save(accelerator.unwrap_model(net).state_dict(), "final.pt")
