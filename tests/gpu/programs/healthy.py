"""One training of each kind that a recorder could disturb; prints the bits that it ends with."""

import hashlib
import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
import torch
import torch.nn.functional as F
from torch import nn

device, kind = sys.argv[1], sys.argv[2]
on_card = device == "cuda"
torch.manual_seed(0)
torch.use_deterministic_algorithms(True, warn_only=True)
torch.backends.cudnn.deterministic = True


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.body = nn.Sequential(nn.Linear(16 * 64, 128), nn.GELU(), nn.Dropout(0.1), nn.Linear(128, 10))

    def forward(self, x):
        return self.body(F.relu(self.norm(self.stem(x))).flatten(1))


def batches(count, size=32):
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        yield (
            torch.randn(size, 3, 8, 8, generator=generator).to(device),
            torch.randint(0, 10, (size,), generator=generator).to(device),
        )


def train(model, optimizer, scaler=None, autocast=None):
    for x, y in batches(24):
        optimizer.zero_grad()
        with torch.autocast(device, autocast or torch.bfloat16, enabled=autocast is not None):
            loss = F.cross_entropy(model(x), y)
        if scaler is None:
            loss.backward()
            optimizer.step()
        else:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
    return loss


def foreach(model):
    return train(model, torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True))


def fused(model):
    return train(model, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True))


def fused_sgd(model):
    return train(model, torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, fused=True))


def never_waiting(model):
    """Nothing here waits for the device, and torch is told to raise where anything does."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    for step, (x, y) in enumerate(list(batches(24))):
        if on_card and step == 4:
            torch.cuda.set_sync_debug_mode("error")
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    if on_card:
        torch.cuda.set_sync_debug_mode("default")
    return loss


def bf16(model):
    return train(model, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True), autocast=torch.bfloat16)


def scaler(model):
    # So large a scale overflows at first, which is normal.
    made = torch.amp.GradScaler(device, init_scale=2.0**40)
    return train(model, torch.optim.AdamW(model.parameters(), lr=1e-3), made, autocast=torch.float16)


def scaler_fused(model):
    made = torch.amp.GradScaler(device, init_scale=2.0**40)
    return train(
        model, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True), made, autocast=torch.float16
    )


def streams(model):
    """Copies on one stream, computing on another, as prefetchers do."""
    if not on_card:
        return fused(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    copying, computing = torch.cuda.Stream(), torch.cuda.Stream()
    computing.wait_stream(torch.cuda.current_stream())
    generator = torch.Generator().manual_seed(1)
    for _ in range(24):
        with torch.cuda.stream(copying):
            x = torch.randn(32, 3, 8, 8, generator=generator).pin_memory().to(device, non_blocking=True)
            y = torch.randint(0, 10, (32,), generator=generator).pin_memory().to(device, non_blocking=True)
        computing.wait_stream(copying)
        with torch.cuda.stream(computing):
            x.record_stream(computing)
            y.record_stream(computing)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    torch.cuda.current_stream().wait_stream(computing)
    return loss


def compiled(model):
    whole = torch.compile(model, backend="inductor" if on_card else "aot_eager")
    return train(whole, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True))


def reduced(model):
    if not on_card:
        return compiled(model)
    whole = torch.compile(model, mode="reduce-overhead")
    return train(whole, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True))


def graphed(model):
    """The whole step in one graph, the optimizer's too."""
    if not on_card:
        return fused(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(1e-3, device=device), capturable=True)
    data = list(batches(24))
    x, y = data[0][0].clone(), data[0][1].clone()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    optimizer.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    for new_x, new_y in data:
        x.copy_(new_x)
        y.copy_(new_y)
        graph.replay()
    return loss


def graphed_forward(model):
    """Forward and backward in graphs, the optimizer outside of them."""
    if not on_card:
        return fused(model)
    model.body[2].p = 0.0
    model = torch.cuda.make_graphed_callables(model, (torch.randn(32, 3, 8, 8, device=device),))
    return train(model, torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True))


model = Net().to(device)
loss = globals()[kind](model)
bits = hashlib.sha256()
for tensor in (*model.parameters(), *model.buffers(), loss.detach()):
    bits.update(tensor.detach().cpu().contiguous().numpy().tobytes())
print(kind, loss.item(), bits.hexdigest())
