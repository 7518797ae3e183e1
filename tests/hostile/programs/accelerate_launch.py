# slow
# journals: 1
# needs: accelerate
# launch: accelerate launch --cpu --num_processes 1 --num_machines 1 --num_cpu_threads_per_process 1 --mixed_precision no --dynamo_backend no --main_process_port 0 {file}
# scrub: \[?[WEI]\d{4} \d\d:\d\d:\d\d\.\d+ \d+
"""accelerate launch starts one process through a launcher of its own."""
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loader = torch.utils.data.DataLoader(torch.randn(32, 4), batch_size=4)
net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
for x in loader:
    loss = net(x).pow(2).mean()
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    accelerator.print(repr(loss.item()))
torch.save(accelerator.unwrap_model(net).state_dict(), f"final-{accelerator.process_index}.pt")
accelerator.end_training()
