"""Programs that rely on what a stand-in has to do as the real one does: each says by asserts whether it did."""

from __future__ import annotations

HEALTHY = {
    # The inputs stay on the processor: the wrappers bring them to the device.
    "wrappers": """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

plain = torch.nn.DataParallel(torch.nn.Linear(4, 2))
assert plain(torch.randn(8, 4)).device.type == "cpu"
model = torch.nn.DataParallel(torch.nn.Linear(4, 2)).cuda()
out = model(torch.randn(8, 4))
assert out.device.type == "cuda"
out.sum().backward()

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, batch, scale):
        assert batch["name"] == "x"
        return self.layer(batch["x"][0]) * scale

dist.init_process_group("nccl", rank=0, world_size=2)
model = DistributedDataParallel(Net().cuda(), device_ids=[0])
model({"x": [torch.randn(8, 4)], "name": "x"}, scale=torch.ones(2)).sum().backward()
""",
    "safetensors": """
from concurrent.futures import ThreadPoolExecutor
import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model

model = torch.nn.Linear(4, 2).cuda()
for name in ("real.safetensors", "kept.safetensors"):
    if name.startswith("kept"):
        save_file({"w": torch.zeros(3, 4)}, name, {"format": "pt"})
    with safe_open(name, framework="pt", device=0) as file:
        assert list(file.keys()) == ["w"] and file.metadata() == {"format": "pt"}
        assert model(file.get_tensor("w")).shape == (3, 2)
        part = file.get_slice("w")
        assert part.get_shape() == [3, 4] and part.get_dtype() == "F32" and part[:2].shape == (2, 4)
        # As transformers reads them.
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(lambda n: file.get_slice("w")[...].to(torch.float16), range(40)))
        assert [torch.nn.Parameter(p).shape for p in parts] == [(3, 4)] * 40
    assert load_file(name)["w"].shape == (3, 4)
tied = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
tied[1].weight = tied[0].weight
save_model(tied, "tied.safetensors")
assert load_model(tied, "tied.safetensors") == (set(), [])
""",
    "weights": """
import argparse
import collections
import torch
model = torch.nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss = model(torch.randn(3, 4)).sum()
loss.backward()
opt.step()
kept = {"model": model.state_dict(), "opt": opt.state_dict(), "best": loss.item(), "rng": torch.get_rng_state()}
torch.save({**kept, "seen": collections.Counter(a=1), "at": {1}, "dtype": torch.float32}, "run.pt")
model.load_state_dict(torch.load("run.pt")["model"])
torch.save(model, "whole.pt")
assert isinstance(torch.load("whole.pt", weights_only=False), torch.nn.Linear)
torch.save({"args": argparse.Namespace(a=1)}, "args.pt")
try:
    torch.load("args.pt")
except Exception as error:
    assert "argparse.Namespace" in str(error)
else:
    raise AssertionError
torch.serialization.add_safe_globals([argparse.Namespace])
torch.load("args.pt")
""",
    # Imported behind the seal, they open their files in C.
    "native": """
import importlib.util
import os
import sqlite3
database = sqlite3.connect("runs.db")
database.execute("create table runs (loss real)")
database.commit()
assert os.path.exists("runs.db")
if importlib.util.find_spec("pyarrow"):
    import pyarrow as pa
    import pyarrow.parquet as pq
    table = pa.table({"x": [1, 2]})
    with open("x.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    assert pa.ipc.open_stream(pa.memory_map("x.arrow")).read_all().num_rows == 2
    pq.write_table(table, "x.parquet")
    assert pq.read_table("x.parquet").num_rows == 2
""",
    "compiled": """
import torch
from functorch.compile import memory_efficient_fusion
""",
}
# They end at their last line.
REFUSED = {
    "whole": """
import torch
torch.save(torch.nn.Linear(4, 2), "m.pt")
torch.load("m.pt")
""",
    "file": """
import torch
with open("m.pt", "wb") as file:
    torch.save(torch.nn.DataParallel(torch.nn.Linear(4, 2)), file)
with open("m.pt", "rb") as file:
    torch.load(file)
""",
    "numpy": """
import numpy, torch
torch.save({"best": numpy.mean([1.0])}, "m.pt")
torch.load("m.pt")
""",
}
