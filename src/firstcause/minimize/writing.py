"""A program as the lines of a script that runs with torch alone, as a person would write it."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch.overrides import get_testing_overrides
from torch.utils._pytree import tree_leaves

from firstcause.minimize.failure import Failure
from firstcause.minimize.invariants import INVARIANTS
from firstcause.minimize.program import Call, Leaf, Program, Ref, Settings, inverse, order_of
from firstcause.minimize.regions import Checkpointed, Region, regions
from firstcause.minimize.trial import is_random
from firstcause.minimize.writing_regions import CHECKPOINT, definition

OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "div": "/", "matmul": "@", "pow": "**", "mod": "%",
    "floordiv": "//", "and": "&", "or": "|", "xor": "^", "lt": "<", "gt": ">", "le": "<=", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
FUNCTIONAL = "torch.nn.functional."
METHOD = "torch.Tensor."
NAMES = {
    "self": "x",
    "input": "x",
    "other": "y",
    "mat1": "x",
    "mat2": "y",
    "tensor": "x",
    "tensor1": "x",
    "tensor2": "y",
}
FEW = 16


class Writer:
    """Names for tensors as they are first used, and the text of each call."""

    def __init__(self, program: Program, failure: Failure) -> None:
        self.program, self.failure = program, failure
        self.names: dict[int, str] = {}
        self.taken: set[str] = {"torch", "F"}
        self.modules: set[str] = set()
        self.definitions: list[str] = []

    def lines(self) -> list[str]:
        for call in self.program.calls:
            self._name_inputs(call)
        body = list(self._body())
        head = ["import torch"]
        if "F" in self.modules:
            head.append("import torch.nn.functional as F")
        if any(isinstance(region, Checkpointed) for _, region in regions(self.program)):
            head.append(CHECKPOINT)
        head.append("")
        if self.definitions:
            head += ["", *self.definitions]
        # What fails with every seed needs none, where no value is shown.
        if is_random(self.program) and self.failure.kind != "raised":
            head.append("torch.manual_seed(0)")
        return [*head, *(self._leaf(n, leaf) for n, leaf in self._in_order()), *body]

    # ------------------------------------------------------------------ names

    def _name_inputs(self, call: Call) -> None:
        words = ["x", "y", "z"] if isinstance(call.function, Region) else parameters(call.function)
        for position, x in enumerate(call.args):
            self._name(x, words[position] if position < len(words) else "x")
        for word, x in call.kwargs.items():
            self._name(x, word)

    def _name(self, x: Any, word: str) -> None:
        for ref in tree_leaves(x, is_leaf=lambda y: isinstance(y, Ref)):
            if isinstance(ref, Ref) and ref.number in self.program.leaves and ref.number not in self.names:
                self.names[ref.number] = self.free(NAMES.get(word, word))

    def free(self, word: str) -> str:
        word = word if word.isidentifier() and not keyword.iskeyword(word) else "x"
        name, n = word, 1
        while name in self.taken:
            n += 1
            name = f"{word}{n}"
        self.taken.add(name)
        return name

    def _in_order(self) -> Iterator[tuple[int, Leaf]]:
        return ((n, self.program.leaves[n]) for n in self.names if n in self.program.leaves)

    # ------------------------------------------------------------------ tensors

    def _leaf(self, number: int, leaf: Leaf) -> str:
        return f"{self.names[number]} = {self.made(leaf)}"

    def made(self, leaf: Leaf) -> str:
        order = order_of(leaf.value)
        if order != tuple(sorted(order)):
            # Its memory lies in another order, which is why it is refused.
            plain = self.made(replace(leaf, value=leaf.value.permute(order), trained=False))
            back = inverse(order)
            moved = [dim for dim in range(len(back)) if back[dim] != dim]
            turned = (
                f".transpose({moved[0]}, {moved[1]})"
                if len(moved) == 2
                else f".permute({', '.join(map(str, back))})"
            )
            return plain + turned + (".requires_grad_()" if leaf.trained else "")
        return self._tensor(leaf) + (".numpy()" if leaf.array else "")

    def _tensor(self, leaf: Leaf) -> str:
        options = ""
        if leaf.value.device.type != "cpu":
            options += f", device={str(leaf.value.device)!r}"
        kind, *rest = leaf.made or ("literal",)
        shape = ", ".join(map(str, leaf.value.shape))
        usual = {"randint": torch.int64, "arange": torch.int64}.get(kind, torch.float32)
        if kind in ("full", "literal"):
            usual = _of_numbers(leaf.value)
        if leaf.value.dtype is not usual:
            options = f", dtype={leaf.value.dtype}{options}"
        if leaf.trained:
            options += ", requires_grad=True"
        if kind == "literal":
            return literal(leaf.value, options)
        if kind == "randint":
            return f"torch.randint({rest[0]}, ({shape}{',' if leaf.value.dim() == 1 else ''}){options})"
        if kind == "full":
            return f"torch.full(({shape}{',' if leaf.value.dim() == 1 else ''}), {number_text(rest[0])}{options})"
        if kind == "arange":
            made = f"torch.arange({leaf.value.numel()}{options})"
            return made if leaf.value.dim() == 1 else f"{made}.view({shape})"
        return f"torch.{kind}({shape or '()'}{options})"

    # ------------------------------------------------------------------ calls

    def _body(self) -> Iterator[str]:
        inside: Settings = Settings()
        last = self.program.calls[-1]
        for call in self.program.calls:
            text = self.call(call)
            if call is last and self.failure.what == "derived":
                # The assertion applies the Function itself.
                continue
            if call.settings != inside:
                inside = call.settings
                if inside != Settings():
                    yield f"with {context(inside)}:"
            indent = "    " if inside != Settings() else ""
            raises = call is last and self.failure.kind == "raised"
            yield f"{indent}{text if raises else self.assigned(call, text)}" + (
                f"  # {self.failure.what}" if raises else ""
            )
        if self.failure.kind == "made":
            shown = next(self.names[n] for n in last.outputs if n is not None and n in self.names)
            yield f"assert torch.isfinite({shown}).all(), {shown}"
        if self.failure.kind == "broken":
            yield INVARIANTS[self.failure.what].asserted(self.program, self.names)
        if self.failure.kind == "gradient":
            trained = [
                self.names[n] for n, leaf in self.program.leaves.items() if leaf.trained and n in self.names
            ]
            yield from (f"assert torch.isfinite({n}.grad).all(), {n}.grad" for n in trained)

    def assigned(self, call: Call, text: str) -> str:
        made = [n for n in call.outputs if n is not None]
        mine = set(call.inputs())
        if not made or all(n in self.names and n in mine for n in made):
            return text
        names = []
        for n in call.outputs:
            if n is None:
                names.append("_")
                continue
            if n not in self.names or n in self.program.leaves:
                self.names[n] = self.free("out")
            names.append(self.names[n])
        single = len(names) == 1 and not _gives_sequence(call)
        return f"{names[0] if single else ', '.join(names) + (',' if len(names) == 1 else '')} = {text}"

    def call(self, call: Call) -> str:
        args = [self._value(x) for x in call.args]
        named = [f"{k}={self._value(v)}" for k, v in call.kwargs.items()]
        name = call.name
        if isinstance(call.function, Region):
            defined, lines = definition(self, call.function)
            self.definitions += [*lines, "", ""]
            if isinstance(call.function, Checkpointed):
                return f"checkpoint({', '.join([defined, *args, 'use_reentrant=False'])})"
            return f"{defined}.apply({', '.join(args)})"
        if name.startswith("operator."):
            return self._method(f"__{name[9:]}__", args, named)
        if name.endswith(".__get__"):
            return f"{args[0]}.{name.split('.')[-2]}"
        if name.startswith(METHOD):
            return self._method(name[len(METHOD) :], args, named)
        if name.startswith(FUNCTIONAL) or (
            name.startswith("torch._C._nn.") and hasattr(torch.nn.functional, name[13:])
        ):
            self.modules.add("F")
            return f"F.{name.rpartition('.')[2]}({', '.join([*args, *named])})"
        return f"{name}({', '.join([*args, *named])})"

    def _method(self, short: str, args: list[str], named: list[str]) -> str:
        bare = short.strip("_")
        if short == "__getitem__":
            return f"{args[0]}[{args[1].strip('()') if args[1].startswith('(') else args[1]}]"
        if short == "__setitem__":
            return f"{args[0]}[{args[1]}] = {args[2]}"
        if (
            bare in OPERATORS
            and len(args) == 2
            and not named
            and not short.endswith("_") ^ short.startswith("__")
        ):
            return f"{args[0]} {OPERATORS[bare]} {args[1]}"
        if bare[1:] in OPERATORS and short.startswith("__r") and len(args) == 2:
            return f"{args[1]} {OPERATORS[bare[1:]]} {args[0]}"
        if bare[1:] in OPERATORS and short.startswith("__i") and len(args) == 2:
            return f"{args[0]} {OPERATORS[bare[1:]]}= {args[1]}"
        if short == "__neg__":
            return f"-{args[0]}"
        while args and args[-1] == "None" and short == "backward":
            args.pop()
        left = [x for x in named if not x.endswith(("=None", "=False"))] if short == "backward" else named
        return f"{args[0]}.{short}({', '.join([*args[1:], *left])})"

    def _value(self, x: Any) -> str:
        if isinstance(x, Ref):
            return self.names[x.number]
        if isinstance(x, (list, tuple)):
            inner = ", ".join(map(self._value, x))
            if isinstance(x, list):
                return f"[{inner}]"
            return f"({inner}{',' if len(x) == 1 else ''})"
        if isinstance(x, slice):
            parts = ["" if p is None else self._value(p) for p in (x.start, x.stop, x.step)]
            return ":".join(parts[: 3 if x.step is not None else 2])
        if x is Ellipsis:
            return "..."
        return number_text(x)


def written(program: Program, failure: Failure) -> list[str]:
    """The script's lines, without the words at its top."""
    return Writer(program, failure).lines()


def context(settings: Settings) -> str:
    parts = [] if settings.grad else ["torch.no_grad()"]
    parts += [f"torch.autocast({d!r}, dtype={t})" for d, t in settings.autocast]
    return ", ".join(parts)


def number_text(x: Any) -> str:
    if isinstance(x, float) and (x != x or x in (float("inf"), float("-inf"))):
        return f"float({str(x)!r})"
    return repr(x)


def _of_numbers(value: torch.Tensor) -> torch.dtype:
    """The type that torch makes of written numbers such as these where none is named."""
    if value.dtype is torch.bool:
        return torch.bool
    if value.is_complex():
        return torch.complex64
    return torch.float32 if value.is_floating_point() else torch.int64


def literal(value: torch.Tensor, options: str) -> str:
    """The values themselves; raises ``Unwritable`` where they are many."""
    plain = value.detach().cpu()
    if plain.numel() <= FEW:
        inner = str(plain.tolist()).replace("inf", "float('inf')").replace("nan", "float('nan')")
        return f"torch.tensor({inner}{options})"
    raise Unwritable(f"{plain.numel()} captured values of a tensor {list(plain.shape)} cannot be left out")


class Unwritable(Exception):
    """A program that no short script says."""


def parameters(function: Callable[..., Any]) -> list[str]:
    """The names of a function's arguments, as torch's own table of signatures has them."""
    signature = get_testing_overrides().get(function)
    try:
        return list(inspect.signature(signature or function).parameters)
    except (TypeError, ValueError):
        return ["input"]


def _gives_sequence(call: Call) -> bool:
    return (
        call.name.rpartition(".")[2] in ("split", "chunk", "unbind", "topk", "max", "min", "sort")
        and len(call.outputs) != 1
    )
