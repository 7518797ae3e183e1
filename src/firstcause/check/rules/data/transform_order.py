"""Tensors are normalised before the image is one, or images changed after they are tensors.

Why: Normalize takes a tensor and ToTensor an image: the pipeline raises at the first sample.
Refuted by: ToTensor, PILToTensor, ToImage before Normalize.
Holds for: torchvision, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import call_of
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "transform-order"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

COMPOSE = (
    "torchvision.transforms.Compose",
    "torchvision.transforms.transforms.Compose",
    "torchvision.transforms.v2.Compose",
)
TO_TENSOR = ("ToTensor", "PILToTensor", "ToImage", "ToDtype", "ConvertImageDtype")


def find(code: Code) -> Iterator[Finding]:
    for compose in code.calls(*COMPOSE):
        steps = _steps(code, compose)
        names = [name for name, _ in steps]
        if "Normalize" not in names or "" in names:
            continue
        normalised = names.index("Normalize")
        later = [n for n in names[normalised + 1 :] if n in ("ToTensor", "PILToTensor")]
        if later and not set(names[:normalised]) & set(TO_TENSOR):
            text = f"Normalize stands before {later[0]}; it takes a tensor and gets an image"
            yield finding(SLUG, CATEGORY, compose.module, steps[normalised][1], text)


def _steps(code: Code, compose: Call) -> list[tuple[str, ast.expr]]:
    """The classes of a pipeline's steps, in order; an empty name for one that is not known."""
    given = compose.node.args[0] if compose.node.args else None
    if not isinstance(given, ast.List):
        return []
    found = []
    for node in given.elts:
        name = call_of(code, compose.module, node).name if isinstance(node, ast.Call) else ""
        found.append((name.rpartition(".")[2] if name.startswith("torchvision.") else "", node))
    return found


_PIPE = """
from torchvision import transforms as T

pipe = T.Compose([
    T.Resize(32),
    {one}
    {two}
])
"""
_NORM, _TENSOR = "T.Normalize((0.5,), (0.5,)),", "T.ToTensor(),"
BAD = (
    Example(_PIPE.format(one=_NORM + "  # found", two=_TENSOR)),
    Example("""
from torchvision.transforms import Compose, Normalize, ToTensor

pipe = Compose([Normalize([0.5], [0.5]), ToTensor()])  # found
"""),
)
GOOD = (
    Example(_PIPE.format(one=_TENSOR, two=_NORM)),
    Example(_PIPE.format(one="T.PILToTensor(),", two=_NORM)),
    Example(_PIPE.format(one=_NORM, two="T.RandomErasing(),")),
)
