# journals: 1
"""The failing step writes files, a database, descriptors, a pipe and a process: all of it once."""
import os
import sqlite3
import subprocess
import sys

import torch

torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
database = sqlite3.connect("log.sqlite")
database.execute("create table losses (step integer, loss text)")
log, raw = open("log.txt", "w"), os.open("raw.txt", os.O_WRONLY | os.O_CREAT)
receiving, sending = os.pipe()
reader = open(__file__)
for step in range(6):
    log.write(f"start {step} {reader.readline()!r}\n")
    os.write(raw, b"%d\n" % step)
    os.write(sending, b"x")
    database.execute("insert into losses values (?, ?)", (step, str(os.getpid() == os.getppid())))
    database.commit()
    subprocess.run(["sh", "-c", f"echo {step} >> shell.txt"], check=True)
    os.makedirs(f"step-{step}")
    print("step", step, end=" ")
    loss = net(torch.randn(8, 4)).pow(2).mean() * (float("inf") if step == 3 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    sys.stderr.write(f"{loss.item()!r}\n")
os.rename("step-5", "renamed")
print(len(os.read(receiving, 100)), database.execute("select count(*) from losses").fetchone())
torch.save(net.state_dict(), "final.pt")
