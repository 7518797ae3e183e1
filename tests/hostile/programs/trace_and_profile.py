# slow
# journals: 1
"""Own tracer and profiler, as a coverage tool has them: the script's lines and calls are those of the file."""
import sys
import threading
from collections import Counter

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
lines, calls = set(), Counter()


def tracer(frame, event, argument):
    if frame.f_code.co_filename == __file__:
        lines.add((frame.f_code.co_name, frame.f_lineno, event))
        return tracer


def profiler(frame, event, argument):
    if frame.f_code.co_filename == __file__ and event in ("call", "return"):
        calls[frame.f_code.co_name, event] += 1


def train(count):
    for step in range(count):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        if step == 10:
            print("never reached")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return repr(loss.item())


sys.settrace(tracer)
print(train(3), sys.gettrace() is tracer)
sys.settrace(None)
sys.setprofile(profiler)
print(train(3), sys.getprofile() is profiler)
sys.setprofile(None)
print(sorted(lines), sorted(calls.items()), threading._trace_hook)
