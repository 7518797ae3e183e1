"""A healthy log of a library, made from the messages in its own source.

    python benchmarks/triage/engine_lines.py vllm|sglang|deepspeed ARCHIVE OUT.log.gz [--size BYTES]

ARCHIVE is a wheel or an sdist. Every message at level info or debug is written as the library writes it, with values in its
gaps; none of them reports a failure. `tests/integration/test_triage_healthy.py` asks that triage claims no pattern on them.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import itertools
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

LEVELS = frozenset(("info", "info_once", "debug", "debug_once", "log_dist", "print_rank_0"))
LOGGERS = frozenset(("logger", "logging", "log", "self.logger", "_logger"))
GAP = re.compile(r"%(?:\(\w+\))?[-+ #0]*\d*(?:\.\d+)?[sdrfgexX]|\{[^{}]*\}")
VALUES = (
    "16",
    "0.93",
    "cuda:0",
    "float16",
    "model-00001-of-00004.safetensors",
    "[1, 2, 4, 8]",
    "3.21",
    "128",
    "auto",
)
# At level info, and yet what somebody looks for: a message of the catalogue's own, and an error that is handed on.
TELLING = re.compile(r"Invalidate trace cache|\w+(?:Error|Exception)\b")
PREFIX = {
    "vllm": "INFO 11-28 22:{m:02d}:{s:02d} [{file}:{line}] ",
    "sglang": "[2026-11-28 22:{m:02d}:{s:02d} TP0] ",
    "deepspeed": "[2026-11-28 22:{m:02d}:{s:02d},{ms:03d}] [INFO] [{file}:{line}:{name}] [Rank 0] ",
}


def sources(archive: Path) -> Iterator[tuple[str, str]]:
    """Path and text of each Python file that is no test."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as file:
            for name in sorted(file.namelist()):
                if name.endswith(".py") and "test" not in name:
                    yield name, file.read(name).decode("utf-8", "replace")
        return
    with tarfile.open(archive) as file:
        for member in sorted(file.getmembers(), key=lambda m: m.name):
            content = file.extractfile(member) if member.name.endswith(".py") else None
            if content is not None and "test" not in member.name:
                yield member.name, content.read().decode("utf-8", "replace")


def template(node: ast.expr) -> str:
    """A message with ``{}`` in its gaps; empty for what is no literal."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return GAP.sub("{}", node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(template(part) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left) + template(node.right)
    return ""


def messages(archive: Path) -> Iterator[tuple[str, int, str]]:
    """File, line and template of each message at level info or debug."""
    for path, text in sources(archive):
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            called = ast.unparse(node.func)
            owner, _, name = called.rpartition(".")
            if name in LEVELS and (owner in LOGGERS or not owner):
                said = template(node.args[0]).strip()
                if len(said) > 8 and not TELLING.match(said):
                    yield Path(path).name, node.lineno, said.split("\n")[0]


def lines(library: str, archive: Path) -> Iterator[str]:
    """The log without an end: the messages round and round, each time with other values."""
    known = list(messages(archive))
    values = itertools.cycle(VALUES)
    for second in itertools.count():
        for number, (file, line, said) in enumerate(known):
            filled = re.sub(r"\{\}", lambda _: next(values), said)
            at = second * 60 + number // 40
            prefix = PREFIX[library].format(
                m=at // 60 % 60, s=at % 60, ms=number % 1000, file=file, line=line, name="forward"
            )
            yield f"{prefix}{filled}\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("library", choices=sorted(PREFIX))
    parser.add_argument("archive", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=int, default=200_000)
    args = parser.parse_args()
    written, size = [], 0
    for line in lines(args.library, args.archive):
        written.append(line)
        size += len(line.encode())
        if size >= args.size:
            break
    with open(args.out, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
        packed.write("".join(written).encode())
    print(
        f"{args.out}: {len(written)} lines, {len(set(written))} distinct, {size} bytes, {args.archive.name}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
