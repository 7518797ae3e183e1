# journals: 1
"""Hooks, filters, collectors and tables of the interpreter are those of an unobserved one."""
import faulthandler
import gc
import sys
import threading
import warnings

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def state():
    yield "excepthook", sys.excepthook is sys.__excepthook__
    yield "thread excepthook", threading.excepthook is threading.__excepthook__
    yield "unraisablehook", sys.unraisablehook is sys.__unraisablehook__
    yield "displayhook, breakpointhook", sys.displayhook is sys.__displayhook__, sys.breakpointhook is sys.__breakpointhook__
    yield "trace, profile", sys.gettrace(), sys.getprofile()
    yield "collector", gc.get_threshold(), gc.isenabled(), len(gc.callbacks), gc.get_freeze_count()
    yield "faulthandler", faulthandler.is_enabled()
    yield "filters", warnings.filters
    yield "limits", sys.getrecursionlimit(), sys.getswitchinterval(), sys.getdlopenflags()
    yield "grad, inference", torch.is_grad_enabled(), torch.is_inference_mode_enabled(), torch.is_anomaly_enabled()
    yield "threads", torch.get_num_threads(), threading.active_count(), threading.stack_size()
    yield "asyncgen", sys.get_asyncgen_hooks(), sys.get_coroutine_origin_tracking_depth()


for line in state():
    print(line)
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for line in state():
    print(line)
