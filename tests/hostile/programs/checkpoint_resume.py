# slow
# journals: 1
# launch: sh -c "python {file} && python {file}"
"""Stops half-way and resumes from a checkpoint with all states, in a second process of one command."""
import os

import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
start = 0
if os.path.exists("state.pt"):
    state = torch.load("state.pt", weights_only=True)
    net.load_state_dict(state["net"]), optimizer.load_state_dict(state["optimizer"]), torch.set_rng_state(state["rng"])
    start = state["step"]
for step in range(start, start + 3):
    loss = torch.utils.checkpoint.checkpoint(net, torch.randn(8, 4), use_reentrant=False).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, repr(loss.item()))
torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state(), "step": step + 1}, "state.pt")
