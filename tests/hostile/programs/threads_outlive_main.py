# slow
# journals: 1
# expect-exit: 1
"""Main has raised while a thread still trains; atexit comes after it, and a daemon thread is cut off."""
import atexit
import threading

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
main_over = threading.Event()


def train():
    main_over.wait(10)
    for step in range(4):
        loss = net(torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, repr(loss.item()), threading.main_thread().is_alive())



atexit.register(print, "atexit")
threading.Thread(target=train).start()
threading.Thread(target=threading.Event().wait, daemon=True).start()
threading.Timer(0.5, main_over.set).start()
raise ValueError("main ends")
