"""A checkpoint is read in a way that runs code from it.

Why: a pickle can hold any call; weights_only=True, the default since torch 2.6, reads tensors and plain containers alone.
Refuted by: weights_only=True, a file that this program wrote itself.
Holds for: torch since 1.13.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.frames import Value

SLUG = "unsafe-torch-load"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls("torch.load"):
        given = call.constant("weights_only")
        if given is None or given.value is not False or _own_file(code, call.argument("f", 0)):
            continue
        text = "torch.load(weights_only=False) runs whatever code the file holds: fit only for files that you wrote"
        yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="weights_only")


def _own_file(code: Code, path: Value | None) -> bool:
    """Whether this program writes a file of that name itself."""
    read = code.text_of(path) if path is not None else None
    if read is None:
        return False
    for save in code.calls("torch.save"):
        target = save.argument("f", 1)
        written = code.text_of(target) if target is not None else None
        if written is not None and written.value == read.value:
            return True
    return False


BAD = (
    Example("""
import torch

state = torch.load("partial/state.pt", weights_only=False)  # found
"""),
    Example("""
import torch

def restore(path):
    return torch.load(path, map_location="cpu", weights_only=False)["model"]  # found
"""),
)
GOOD = (
    Example("""
import torch

state = torch.load("partial/state.pt", weights_only=True)
"""),
    Example("""
import torch

state = torch.load("partial/state.pt")
"""),
    Example("""
import torch

torch.save({"model": 1}, "out/state.pt")
state = torch.load("out/state.pt", weights_only=False)
"""),
)
