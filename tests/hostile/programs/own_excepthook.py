# journals: 1
# expect-exit: 1
"""The program's own hook prints every frame of the traceback, and where its own frames end."""
import sys
import traceback

import torch


def hook(kind, value, trace):
    frames = traceback.extract_tb(trace)
    print(kind.__name__, value, len(frames), [(f.name, f.lineno, f.line) for f in frames])
    print("".join(traceback.format_exception(kind, value, trace)).replace(__file__, "FILE"))
    depth, frame = 0, trace.tb_frame
    while frame:
        depth, frame = depth + 1, frame.f_back
    print(depth, sorted(trace.tb_frame.f_locals), sys.last_value if hasattr(sys, "last_value") else "no last value")


sys.excepthook = hook
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(5):
    loss = net(torch.randn(8, 4 if step < 3 else 5)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
