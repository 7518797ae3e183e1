"""What is run: a command that was given, those of the project's launch scripts, else the scripts themselves."""

from __future__ import annotations

import ast
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firstcause.errors import InputError

STARTERS = frozenset({"torchrun", "accelerate", "deepspeed"})
# Options of the starters that have no word of their own behind them.
FLAGS = frozenset(
    [
        "--standalone",
        "--multi_gpu",
        "--use_deepspeed",
        "--use_fsdp",
        "--no_python",
        "--no-python",
        "--cpu",
        "--tpu",
        "--mps",
        "-q",
        "--quiet",
    ]
)
PYTHON = re.compile(r"^(.*/)?python[\d.]*$")
SCRIPTS = (".py", ".ipynb")
MOST = 8


@dataclass(frozen=True)
class Command:
    """A script with its arguments; ``ranks`` is whether its starter gives it one of several ranks."""

    script: str
    arguments: tuple[str, ...] = ()
    cwd: str = "."
    ranks: bool = False

    def __str__(self) -> str:
        return shlex.join([os.path.relpath(self.script, self.cwd), *self.arguments])


def commands(root: str, files: Sequence[str], given: str = "") -> list[Command]:
    """The programs to run dry, each script once.

    Raises ``InputError`` where ``given`` starts no script.
    """
    if given:
        found = _command(given, root)
        if found is None:
            raise InputError(
                "dry-command", f"{given}: no Python script is started", "give --command 'python train.py …'"
            )
        return [found]
    launched = {c.script: c for c in reversed(list(_launches(root, files)))}
    scripts = [f for f in files if f.endswith(SCRIPTS) and (f in launched or _starts(f))]
    imported = _imported(files)
    chosen = [f for f in scripts if f in launched or os.path.splitext(os.path.basename(f))[0] not in imported]
    return [launched.get(f) or Command(f, (), root) for f in chosen][:MOST]


def _command(line: str, cwd: str) -> Command | None:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return None
    while words and re.match(r"^\w+=", words[0]):
        words.pop(0)
    if not words:
        return None
    first = os.path.basename(words[0])
    if PYTHON.match(words[0]):
        rest = words[1:]
        ranks = rest[:2] in (["-m", "torch.distributed.run"], ["-m", "torch.distributed.launch"])
        if ranks:
            rest = rest[2:]
    elif first in STARTERS:
        ranks, rest = True, words[1:]
        if first == "accelerate":
            ranks = "--multi_gpu" in rest or any(w.startswith("--num_processes") for w in rest)
    elif first.endswith(SCRIPTS):
        ranks, rest = False, words
    else:
        return None
    for at, word in enumerate(rest):
        if word.endswith(SCRIPTS) and not word.startswith("-"):
            path = os.path.abspath(os.path.join(cwd, word))
            return Command(path, tuple(rest[at + 1 :]), cwd, ranks) if os.path.isfile(path) else None
    return None


def _launches(root: str, files: Sequence[str]) -> Iterator[Command]:
    """The launch lines of shell scripts that lie beside the code, without variables of the shell."""
    folders = dict.fromkeys([root, *(os.path.dirname(f) for f in files)])
    known = set(files)
    for folder in folders:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if not name.endswith((".sh", ".slurm", ".sbatch")):
                continue
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                text = file.read(100_000).replace("\\\n", " ")
            for line in text.splitlines():
                for cwd in dict.fromkeys((root, folder)):
                    found = _command(line.strip().removeprefix("srun "), cwd) if "$" not in line else None
                    if found is not None and found.script in known:
                        yield found
                        break


def _starts(file: str) -> bool:
    """Whether a file does something with torch when it is run: calls, loops, or a main guard."""
    try:
        with open(file, "rb") as stream:
            raw = stream.read(1 << 20)
        if file.endswith(".ipynb"):
            return b"torch" in raw
        tree = ast.parse(raw)
    except (OSError, SyntaxError, ValueError, RecursionError):
        return False
    if os.path.basename(file).startswith(("test_", "conftest", "setup")):
        return False
    return any(
        isinstance(node, (ast.For, ast.While, ast.With))
        or (isinstance(node, ast.If) and "__main__" in ast.dump(node.test))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in tree.body
    )


def _imported(files: Sequence[str]) -> set[str]:
    """The last parts of the names that any of the files imports."""
    found: set[str] = set()
    for file in files:
        if not file.endswith(".py"):
            continue
        try:
            with open(file, "rb") as stream:
                tree = ast.parse(stream.read(1 << 20))
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {a.name.rpartition(".")[2] for a in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {(node.module or "").rpartition(".")[2], *(a.name for a in node.names)}
    return found
