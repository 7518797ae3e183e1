"""What several ranks did before they failed, as a script of two: the collectives in which they differ, or what DDP refused.

Read from what the ranks of the recorded run wrote of themselves; nothing of the program runs for it. No torch here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Facts = dict[str, Any]
UNFINISHED = "Expected to have finished reduction in the prior iteration"
# Of each of the two ranks of the script, for the other one.
SECONDS = 5
HEAD = (
    "import datetime",
    "",
    "import torch",
    "import torch.distributed as dist",
    "import torch.multiprocessing as mp",
)
JOINED = (
    "def work(rank, store):",
    f"    wait = datetime.timedelta(seconds={SECONDS})",
    '    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=2, timeout=wait)',
)
BEGUN = (
    "",
    "",
    'if __name__ == "__main__":',
    "    with tempfile.TemporaryDirectory() as folder:",
    '        mp.start_processes(work, (f"file://{folder}/store",), nprocs=2, start_method="fork")',
)
CALLS = {
    "all_reduce": "dist.all_reduce({x})",
    "broadcast": "dist.broadcast({x}, 0)",
    "reduce": "dist.reduce({x}, 0)",
    "barrier": "dist.barrier()",
    "all_gather": "dist.all_gather([torch.zeros_like({x}) for _ in range(2)], {x})",
}


@dataclass(frozen=True)
class Parted:
    """The script, how many collectives of the two ranks were left out, and the refusal that it is to repeat, if one."""

    script: str
    calls: int
    refused: str = ""


def parted(standings: list[Facts]) -> Parted | None:
    """A script of two ranks; nothing where neither a differing collective nor a refusal of DDP is seen."""
    calls = sum(len(s["calls"]) for s in standings)
    refused = next((m for s in standings for m in _messages(s) if UNFINISHED in m), "")
    if refused:
        return Parted(_script(_unfinished()), calls, refused)
    found = _difference(standings)
    return None if found is None else Parted(_script(found), calls)


def _messages(standing: Facts) -> list[str]:
    return [str(e.get("message", "")) for e in (standing.get("ended") or {}).get("exception") or []]


def _difference(standings: list[Facts]) -> list[str] | None:
    """The first collective of the group of all that two ranks do not make alike, as the lines of the ranks."""
    ways = [{c["seq"]: c for c in s["calls"] if c["group"] == "0"} for s in standings]
    for one, other in ((a, b) for n, a in enumerate(ways) for b in ways[n + 1 :]):
        for seq in sorted({*one, *other}):
            # The recorder holds the latest ones only.
            if seq < max(min(one, default=0), min(other, default=0)):
                continue
            pair = [_call(one.get(seq)), _call(other.get(seq))]
            if pair[0] != pair[1] and None not in pair:
                return [*JOINED, "    if rank == 0:", f"        {pair[0]}", "    else:", f"        {pair[1]}"]
    return None


def _call(call: Facts | None) -> str | None:
    if call is None:
        return "pass"
    text = CALLS.get(call["op"])
    shape = ", ".join(str(n) for n in (call.get("sizes") or [[1]])[0]) or "()"
    return None if text is None else text.format(x=f"torch.zeros({shape})")


def _unfinished() -> list[str]:
    return [
        "class Model(torch.nn.Module):",
        "    def __init__(self):",
        "        super().__init__()",
        "        self.used, self.unused = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)",
        "",
        "    def forward(self, x):",
        "        return self.used(x)",
        "",
        "",
        *JOINED,
        "    model = torch.nn.parallel.DistributedDataParallel(Model())",
        "    for _ in range(2):",
        "        model(torch.ones(1, 1)).backward()",
    ]


def _script(body: list[str]) -> str:
    head = [*HEAD[:1], "import tempfile", *HEAD[1:]]
    return "\n".join([*head, "", "", *body, *BEGUN]) + "\n"
