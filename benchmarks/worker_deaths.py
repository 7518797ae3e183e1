"""Deaths of a loader's worker: six kinds, by fork and by spawn, of map, iterable and batched datasets; is the sample named.

    python benchmarks/worker_deaths.py [--only TEXT] [--firstcause PATH] [--out FILE] [--print NAME]

Each program is run and diagnosed through the command line, in an empty folder. A row says what torch raised, whether that
names the sample, and what the diagnosis says: the cause, the sample's index, the line.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import tempfile
from pathlib import Path

KINDS = {
    "exit": "sys.exit(3)",
    "_exit": "os._exit(3)",
    "segfault": "ctypes.string_at(0)",
    "SIGKILL": "os.kill(os.getpid(), signal.SIGKILL)",
    "bus error": "past_the_end()",
    "hang": "time.sleep(3600)",
}
METHODS = ("fork", "spawn")
DATASETS = ("map", "iterable", "batched")
SAMPLE = 37

PROGRAM = """import ctypes, mmap, os, signal, sys, tempfile, time
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


def past_the_end():
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 65536)
        file.flush()
        view = mmap.mmap(file.fileno(), 65536)
        file.truncate(0)
        return view[40000]


def row(i):
    if i == {sample}:
        {death}
    return torch.full((4,), float(i % 7))


class Map(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return row(i)


class Batched(Map):
    def __getitems__(self, indices):
        return [row(i) for i in indices]


class Iterable(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for i in range(first, 64, step):
            yield row(i)


def main():
    torch.manual_seed(0)
    loader = DataLoader({dataset}(), batch_size=4, num_workers=2, multiprocessing_context="{method}", timeout={timeout})
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for rows in loader:
        loss = net(rows).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
"""


def programs() -> dict[str, str]:
    """Each program by the name of its row."""
    found = {}
    for kind, method, dataset in itertools.product(KINDS, METHODS, DATASETS):
        timeout = 8 if kind == "hang" else 0
        name = f"{kind}, {method}, {dataset}"
        found[name] = PROGRAM.format(
            sample=SAMPLE, death=KINDS[kind], dataset=dataset.capitalize(), method=method, timeout=timeout
        )
    return found


def row(name: str, program: str, tool: str) -> dict[str, object]:
    """What torch said and what the diagnosis says of one program."""
    kind, _, dataset = name.split(", ")
    line = next(n for n, text in enumerate(program.splitlines(), 1) if text.strip() == KINDS[kind])
    inner = next(n for n, text in enumerate(program.splitlines(), 1) if "return view[40000]" in text)
    # Items of a worker's own stream: the second worker's are the odd numbers.
    wanted = SAMPLE // 2 if dataset == "iterable" else SAMPLE
    env = dict(
        os.environ,
        OMP_NUM_THREADS="1",
        NO_COLOR="1",
        PATH=f"{Path(tool).parent}{os.pathsep}{os.environ['PATH']}",
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(program)
        run = [tool, "run", "-o", "run", "--json", "run.json", "python", "train.py"]
        subprocess.run(run, cwd=folder, env=env, capture_output=True, timeout=300)
        diagnose = [tool, "diagnose", "run", "--json", "d.json", "--yes", "--budget", "120s"]
        subprocess.run(diagnose, cwd=folder, env=env, capture_output=True, timeout=400)
        symptoms = json.loads(Path(folder, "run.json").read_text())["symptoms"]
        answer = json.loads(Path(folder, "d.json").read_text())
    said = symptoms[0]["message"].splitlines()[0] if symptoms else ""
    named = [e["values"] for h in answer["hypotheses"] if h["status"] == "confirmed" for e in h["evidence"]]
    index = next((v["index"] for v in named if "index" in v), None)
    found = (answer.get("site") or {}).get("line")
    return {
        "name": name,
        "torch": said,
        "torch_names_it": str(SAMPLE) in said.replace("pid", ""),
        "cause": answer.get("cause"),
        "index": index,
        "named": answer.get("cause") == "worker-killed" and index == wanted,
        "line": found in (line, inner),
    }


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds it")
    p.add_argument("--firstcause", default="firstcause", metavar="PATH")
    p.add_argument("--out", type=Path, metavar="FILE", help="the table as Markdown")
    p.add_argument("--print", metavar="NAME", help="print one program")
    args = p.parse_args()
    every = programs()
    if args.print:
        print(every[args.print])
        return 0
    rows = []
    for name in (n for n in every if args.only in n):
        rows.append(row(name, every[name], args.firstcause))
        print(json.dumps(rows[-1]), flush=True)
    named, lines = sum(bool(r["named"]) for r in rows), sum(bool(r["line"]) for r in rows)
    print(f"sample named in {named} of {len(rows)}, line in {lines}")
    if args.out:
        args.out.write_text(table(rows, named, lines))
    return int(named < len(rows))


def table(rows: list[dict[str, object]], named: int, lines: int) -> str:
    head = (
        f"Sample named in {named} of {len(rows)}, its line in {lines}; torch's own message names it in "
        f"{sum(bool(r['torch_names_it']) for r in rows)}.\n\n"
        "| death | torch says | sample named | line |\n| --- | --- | --- | --- |\n"
    )
    yes = {True: "yes", False: "no"}
    return head + "".join(
        f"| {r['name']} | {str(r['torch'])[:90]} | {yes[bool(r['named'])]} | {yes[bool(r['line'])]} |\n"
        for r in rows
    )


if __name__ == "__main__":
    raise SystemExit(main())
