# known-difference: the check is two operations a step, and a profiler counts them
# slow
# journals: 1
# scrub: USDT:.*
"""torch.profiler's table of operations and their counts."""
import torch
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
with profile(activities=[ProfilerActivity.CPU]) as profiler:
    for step in range(3):
        with record_function("my step"):
            loss = net(torch.randn(8, 4)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(step, repr(loss.item()))
for event in sorted(profiler.key_averages(), key=lambda e: e.key):
    print(event.key, event.count)
