"""The training that gpu.py times: its recorder, or what else watches it, is switched from block to block."""

import argparse
import json
import os
import sys
import time
import warnings
from collections import Counter

import torch
from networks import network

WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
# Blocks that are counted and not timed, of so few steps.
COUNTED_STEPS = 5


class Watch:
    """What a block of steps is watched by, beside or instead of the recorder."""

    def __init__(self):
        self.mode = "recorder"

    def switch(self, mode):
        self.mode = mode
        torch.autograd.set_detect_anomaly(mode == "anomaly")
        session = sys.modules.get("firstcause.record.observe.session")
        if session is not None:
            session.current().off = mode != "recorder"

    def look(self, model, loss):
        if self.mode == "item":
            loss.item()
        elif self.mode == "norms":
            for parameter in model.parameters():
                parameter.grad.norm().item()
        elif self.mode == "histogram":
            for parameter in model.parameters():
                values = parameter.grad.float()
                torch.histc(values, 64, *map(float, torch.aminmax(values))).tolist()


class Blocks:
    """The plan of blocks; between two of them the device is waited for and the watcher is changed."""

    def __init__(self, options, device):
        self.options, self.device, self.watch = options, device, Watch()
        self.plan = []
        for mode, pairs in options.modes:
            for i in range(pairs):
                # The order alternates, so that a drift of the card weighs on both alike.
                order = ("off", mode) if i % 2 else (mode, "off")
                self.plan += [(which, mode, i, "time") for which in order]
        if device == "cuda":
            for kind in ("warn", "profile"):
                self.plan += [(mode, "counts", 0, kind) for mode in ("off", "recorder")]
        self.results, self.position, self.left = [], -1, options.warm
        self.stuff, self.began, self.ended = None, 0.0, False

    def total(self):
        timed = sum(self.options.steps for b in self.plan if b[3] == "time")
        return self.options.warm + timed + COUNTED_STEPS * sum(b[3] != "time" for b in self.plan)

    def tick(self):
        """The end of a step."""
        self.left -= 1
        if self.left:
            return
        self.wait()
        if self.position >= 0:
            self.finish()
        self.position += 1
        if self.position == len(self.plan):
            self.watch.switch("off")
            return
        self.begin()

    def wait(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def begin(self):
        mode, _, _, kind = self.plan[self.position]
        self.watch.switch(mode)
        self.left = self.options.steps if kind == "time" else COUNTED_STEPS
        if self.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        if kind == "warn":
            torch.cuda.set_sync_debug_mode("warn")
            self.stuff = warnings.catch_warnings(record=True)
            self.seen = self.stuff.__enter__()
            warnings.simplefilter("always")
        elif kind == "profile":
            activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
            self.stuff = torch.profiler.profile(activities=activities)
            self.stuff.__enter__()
        self.began = time.perf_counter()

    def finish(self):
        seconds = time.perf_counter() - self.began
        mode, compared, pair, kind = self.plan[self.position]
        found = {"mode": mode, "of": compared, "pair": pair, "kind": kind}
        if kind == "time":
            found["ms"] = 1e3 * seconds / self.options.steps
            if self.device == "cuda":
                found["peak"] = torch.cuda.max_memory_allocated()
        elif kind == "warn":
            torch.cuda.set_sync_debug_mode("default")
            self.stuff.__exit__(None, None, None)
            told = [w for w in self.seen if "synchroniz" in str(w.message)]
            found["syncs"] = len(told)
            found["where"] = sorted({f"{w.filename}:{w.lineno}" for w in told})[:10]
        else:
            self.stuff.__exit__(None, None, None)
            events = Counter(e.name for e in self.stuff.events())
            found |= {name: events[name] for name in WAITS}
            found["launches"] = sum(
                n for name, n in events.items() if name.startswith(("cudaLaunch", "cuLaunch"))
            )
            found["copies"] = events["cudaMemcpyAsync"]
        self.results.append(found)


def parallel(kind, model, device):
    """The model of one rank: each has its own card, or its own process on the CPU."""
    import torch.distributed as dist

    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    if kind == "ddp":
        from torch.nn.parallel import DistributedDataParallel

        return DistributedDataParallel(model)
    from torch.distributed.fsdp import fully_shard

    for block in model.blocks:
        fully_shard(block)
    return fully_shard(model)


def compiled_counts():
    counters = sys.modules["torch._dynamo.utils"].counters if "torch._dynamo.utils" in sys.modules else {}
    return {
        "unique_graphs": counters.get("stats", {}).get("unique_graphs", 0),
        "graph_breaks": sum(counters.get("graph_break", {}).values()),
        "recompiles": sum(counters.get("recompiles", {}).values()),
        "frames": dict(counters.get("frames", {})),
    }


def train(options, model, step_model, optimizer, batches, blocks, device):
    half = torch.bfloat16
    before = None
    for step in range(blocks.total()):
        x, y = batches[step % len(batches)]
        with torch.autocast(device, half):
            loss = step_model(x, y)
        loss.backward()
        blocks.watch.look(model, loss)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        blocks.tick()
        if before is None and blocks.position >= 0:
            before = compiled_counts()
    return before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", required=True)
    parser.add_argument("--optimizer", default="fused", choices=("fused", "foreach"))
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--parallel", choices=("ddp", "fsdp"), help="as one rank of torchrun")
    parser.add_argument("--modes", required=True, help="such as recorder:12,item:4")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warm", type=int, default=12)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    options.modes = [(m, int(n)) for m, _, n in (part.partition(":") for part in options.modes.split(","))]
    device = options.device
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    if options.parallel and device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    model, batches = network(options.network, device, options.tiny)
    parameters = sum(p.numel() for p in model.parameters())
    if options.parallel:
        model = parallel(options.parallel, model, device)
    kind = {options.optimizer: True}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **kind)
    step_model = model
    if options.compile:
        step_model = torch.compile(model, backend="inductor" if device == "cuda" else "aot_eager")
    blocks = Blocks(options, device)
    began = time.perf_counter()
    before = train(options, model, step_model, optimizer, batches, blocks, device)
    session = sys.modules.get("firstcause.record.observe.session")
    recorder = session.current().recorder if session is not None else None
    result = {
        "network": options.network,
        "parameters": parameters,
        "tensors": len(list(model.parameters())),
        "optimizer": options.optimizer,
        "compiled": options.compile,
        "torch": torch.__version__,
        "card": torch.cuda.get_device_name() if device == "cuda" else "none",
        "seconds": time.perf_counter() - began,
        "recorded_steps": recorder.step if recorder is not None else 0,
        "deferred": bool(recorder is not None and recorder.deferred.flags),
        "compiled_after_warming": before,
        "compiled_at_the_end": compiled_counts(),
        "steps": options.steps,
        "blocks": blocks.results,
    }
    if options.parallel:
        sys.modules["torch.distributed"].destroy_process_group()
        if os.environ["RANK"] != "0":
            return
    with open(options.out, "w") as file:
        json.dump(result, file)


main()
