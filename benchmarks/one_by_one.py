"""What those benchmarks share that send small programs through the command line, one after the other."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, object]
# A fault is found where the line that is named is no further away.
LINES = 3


def arguments(
    doc: str | None, texts: Mapping[str, str], out: str = "every answer as JSON"
) -> argparse.Namespace:
    """The options of a benchmark of these programs by name; ``--print`` prints one of them, and nothing else is done."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", metavar="TEXT", help="programs whose name holds it")
    p.add_argument("--firstcause", default="firstcause", metavar="PATH")
    p.add_argument("--out", type=Path, metavar="FILE", help=out)
    p.add_argument("--print", metavar="NAME", help="print one program")
    args = p.parse_args()
    if args.print:
        print(texts[args.print])
        p.exit()
    # It is started in other folders.
    args.firstcause = os.path.abspath(shutil.which(args.firstcause) or args.firstcause)
    return args


def asked(args: argparse.Namespace, names: Mapping[str, object], row: Callable[[str], Row]) -> list[Row]:
    """The row of each program that ``--only`` leaves, printed as soon as it is there."""
    rows = []
    for name in (n for n in names if args.only in n):
        rows.append(row(name))
        print(json.dumps(rows[-1]), flush=True)
    return rows


def keep(out: Path | None, told: Row, rows: list[Row]) -> None:
    """Write the figures and every row, where ``--out`` says."""
    if out:
        out.write_text(json.dumps(told | {"rows": rows}, indent=1) + "\n")


def environment(tool: str, **more: str) -> dict[str, str]:
    """One thread and no colours; ``python`` is the one that has torch: the tool's neighbour."""
    path = f"{Path(tool).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    env = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", NO_COLOR="1", PATH=path)
    return env | more


def diagnosed(program: str, tool: str, budget: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the record of one program's run says, and its diagnosis."""
    env = environment(tool)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(program)
        run = [tool, "run", "-q", "-o", "run", "--json", "run.json", "python", "train.py"]
        subprocess.run(run, cwd=folder, env=env, capture_output=True, timeout=300)
        diagnose = [tool, "diagnose", "run", "--json", "d.json", "--yes", "--budget", budget]
        subprocess.run(diagnose, cwd=folder, env=env, capture_output=True, timeout=400)
        return json.loads(Path(folder, "run.json").read_text()), json.loads(
            Path(folder, "d.json").read_text()
        )


def line_of(program: str, mark: str) -> int:
    """The number of the line that ends in a mark; 0 where there is none."""
    return next((n for n, text in enumerate(program.splitlines(), 1) if text.endswith(mark)), 0)


def lines_of(program: str, mark: str) -> list[int]:
    """The numbers of every line that ends in a mark."""
    return [n for n, text in enumerate(program.splitlines(), 1) if text.endswith(mark)]


def is_near(diagnosis: Mapping[str, Any], line: int) -> bool:
    """Whether a diagnosis names this line, or one close to it; line 0 is none."""
    return bool(line) and abs((diagnosis.get("site") or {}).get("line", 0) - line) <= LINES
