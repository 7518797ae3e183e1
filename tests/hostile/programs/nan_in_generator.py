# slow
# journals: 1
"""The failing step is in a generator that a thread pool drives while another thread holds locks."""
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
logging.basicConfig(level=logging.INFO, format="%(message)s")
lock, release = threading.Lock(), threading.Event()


def hold():
    with lock, logging.getLogger().handlers[0].lock:
        held.set()
        release.wait()


held = threading.Event()
holder = threading.Thread(target=hold)
holder.start()
held.wait()


def steps():
    for step in range(6):
        loss = torch.log(net(torch.randn(8, 4)).pow(2).mean() - 100 * (step == 3))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield step, repr(loss.item())


with ThreadPoolExecutor(1) as pool:
    training = steps()
    for _ in range(6):
        print(*pool.submit(next, training).result())
release.set()
holder.join()
logging.info("released")
torch.save(net.state_dict(), "final.pt")
