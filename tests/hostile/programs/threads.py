# journals: 1
"""Two threads train, one after the other, while a third writes a log all the time."""
import threading

import torch

torch.manual_seed(0)
nets = [torch.nn.Linear(4, 1) for _ in range(2)]
ended = threading.Event()


def train(index):
    optimizer = torch.optim.SGD(nets[index].parameters(), lr=0.05)
    for step in range(4):
        loss = nets[index](torch.randn(8, 4)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(threading.current_thread().name, step, repr(loss.item()))
    if index:
        raise ValueError("in a thread")


watcher = threading.Thread(target=ended.wait, name="watcher", daemon=True)
watcher.start()
for index in range(2):
    worker = threading.Thread(target=train, args=(index,), name=f"train-{index}")
    worker.start()
    worker.join()
print(threading.active_count(), sorted(t.name for t in threading.enumerate()))
ended.set()
torch.save([net.state_dict() for net in nets], "final.pt")
