# slow
# journals: 1
"""Which handlers, timers, masks and wake-up descriptors are there, before and after training."""
import signal
import threading

import torch


def table():
    handlers = {s.name: repr(signal.getsignal(s)) for s in sorted(signal.valid_signals(), key=int) if isinstance(s, signal.Signals)}
    wakeup = signal.set_wakeup_fd(-1)
    return handlers, wakeup, signal.getitimer(signal.ITIMER_REAL), signal.pthread_sigmask(signal.SIG_BLOCK, [])


print(table())
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(3):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(table() == table(), threading.active_count(), [t.name for t in threading.enumerate()])
print(table())
