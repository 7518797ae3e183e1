"""Where a program seeds its sources of chance, and where it draws from them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from firstcause.source.module import Module
from firstcause.source.project import Project
from firstcause.source.resolve import external, resolve

Source = Literal["python", "numpy", "torch", "generators"]
SEEDS: dict[str, Source] = {
    "random.seed": "python",
    "numpy.random.seed": "numpy",
    "torch.manual_seed": "torch",
}
# One call that seeds all three.
ALL = re.compile(r"(^|\.)(seed_everything|set_seed|enable_full_determinism)$")
# A generator that takes its seed when it is made, and the system's entropy without one.
MADE = frozenset(
    {
        "numpy.random.default_rng",
        "numpy.random.RandomState",
        "random.Random",
        "numpy.random.PCG64",
        "numpy.random.SeedSequence",
    }
)
NO_DRAWS = frozenset(
    {"seed", "getstate", "setstate", "get_state", "set_state", "Generator", "BitGenerator", "SystemRandom"}
)
# Settings that somebody makes who wants the same numbers twice.
MEANT = frozenset({"torch.use_deterministic_algorithms", "torch.set_deterministic_debug_mode"})


@dataclass(frozen=True)
class Chance:
    """A call that seeds or draws: from which source, and where."""

    source: Source
    module: Module
    call: ast.Call

    @property
    def argument(self) -> str | None:
        """The seed as text; None where the call has none."""
        given = self.call.args[0] if self.call.args else None
        return self.module.segment(given) if given is not None else None


def seeded(project: Project) -> list[Chance]:
    """The calls that seed a global generator, in the order of the text; one that seeds all libraries counts for each."""
    found = []
    for module, call, name in _named_calls(project):
        if name in SEEDS:
            found.append(Chance(SEEDS[name], module, call))
        elif ALL.search(name):
            found += [Chance(source, module, call) for source in ("python", "numpy", "torch")]
    return found


def drawn(project: Project) -> list[Chance]:
    """The calls that draw from a global generator, and those that make a generator without a seed."""
    found = []
    for module, call, name in _named_calls(project):
        library, _, last = name.rpartition(".")
        if name in MADE:
            if not call.args and not call.keywords:
                found.append(Chance("generators", module, call))
        elif last in NO_DRAWS:
            continue
        elif library == "random":
            found.append(Chance("python", module, call))
        elif library == "numpy.random":
            found.append(Chance("numpy", module, call))
    return found


def means_it(project: Project) -> bool:
    """Whether somebody wants the same numbers twice: two sources are seeded, or torch is told to be deterministic."""
    if len({c.source for c in seeded(project)}) > 1:
        return True
    return any(name in MEANT for _, _, name in _named_calls(project)) or any(
        isinstance(target, ast.Attribute) and target.attr == "deterministic"
        for module in project.modules
        for assignment in module.nodes(ast.Assign)
        for target in assignment.targets
    )


def _named_calls(project: Project) -> Iterator[tuple[Module, ast.Call, str]]:
    for module in project.modules:
        for call in module.nodes(ast.Call):
            name = external(resolve(project, module, call.func))
            if name:
                yield module, call, name
