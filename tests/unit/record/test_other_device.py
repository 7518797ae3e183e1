"""A program that names CUDA in every way runs on the CPU, in a process that leads it there."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import copy, io, pickle
import torch
from firstcause.record.observe import other_device
other_device._lead_torch(torch)
from torch import nn

device = torch.device("cuda:0")
assert isinstance(device, torch.device) and device == torch.device("cuda", 1) == torch.device(0) == torch.device("cpu")
assert pickle.loads(pickle.dumps(device)) == device
net = copy.deepcopy(nn.Linear(3, 4, device="cuda").cuda().to("cuda:0", torch.float32).to(device=device))
x = torch.randn(2, 3, device="cuda", generator=torch.Generator(device="cuda").manual_seed(3))
assert type(torch.Generator()) is torch.Generator
for moved in (x.cuda(non_blocking=True), x.to("cuda"), x.to(device, torch.float64), x.pin_memory(), x.new_zeros(3, device="cuda")):
    assert moved.device.type == "cpu"
with torch.autocast("cuda"):
    assert net(x).dtype == torch.float16
with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
    assert net(x).dtype == torch.bfloat16
with torch.device("cuda"):
    assert torch.zeros(3).device.type == "cpu"
scaler, optimizer = torch.amp.GradScaler("cuda"), torch.optim.SGD(net.parameters(), lr=0.1)
assert scaler.is_enabled() and torch.cuda.amp.GradScaler().is_enabled()
scaler.scale(net(x).square().mean()).backward()
scaler.step(optimizer)
scaler.update()
file = io.BytesIO()
torch.save(net.state_dict(), file)
for place in ("cuda", device, None, {"cuda:0": "cpu"}):
    file.seek(0)
    net.load_state_dict(torch.load(file, map_location=place, weights_only=True))
torch.cuda.set_device(0)
torch.cuda.synchronize()
torch.cuda.manual_seed_all(3)
with torch.cuda.stream(torch.cuda.Stream()):
    torch.cuda.Event(enable_timing=True).record()
assert torch.cuda.memory_allocated() == 0 and not torch.cuda.is_available()
torch.set_default_device("cuda")
assert torch.ones(2).device.type == "cpu"
print("led")
"""


def test_every_way_leads_to_the_cpu() -> None:
    environment = {
        **os.environ,
        "FIRSTCAUSE_DEVICE": "cpu",
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "led\n", done.stderr
