# journals: 1
# expect-exit: 143
"""Own handlers for SIGTERM, SIGALRM and SIGUSR1 run in the middle of the loop; the second SIGTERM kills."""
import os
import signal

import torch


def on_signal(number, frame):
    print(signal.Signals(number).name, frame.f_code.co_name, "step" in frame.f_globals, flush=True)
    if number == signal.SIGTERM:
        torch.save(net.state_dict(), "on-term.pt")
        signal.signal(number, previous)


torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
previous = signal.signal(signal.SIGTERM, on_signal)
print(previous, signal.signal(signal.SIGUSR1, on_signal), signal.signal(signal.SIGALRM, on_signal))
for step in range(6):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    if step == 1:
        os.kill(os.getpid(), signal.SIGUSR1)
    loss.backward()
    if step == 2:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        signal.pause()
    optimizer.step()
    print(step, repr(loss.item()), flush=True)
    if step > 3:
        os.kill(os.getpid(), signal.SIGTERM)
