# journals: 1
# needs: tqdm
"""A progress bar on stderr, redrawn at every step and written over by prints."""
import torch
from tqdm import tqdm

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
bar = tqdm(range(6), mininterval=0, bar_format="{desc}: {n_fmt}/{total_fmt}{postfix}", desc="train")
for step in bar:
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    bar.set_postfix(loss=repr(loss.item()))
    if step % 2:
        bar.write(f"step {step}")
torch.save(net.state_dict(), "final.pt")
