"""Layers in a plain list or dict: no optimizer, no ``to(device)`` and no checkpoint knows of them.

Seen: a module keeps modules in a list, tuple or dict, calls them, they get gradients, and no optimizer has them, while one
has the module's own parameters.
Refuted by: their parameters in an optimizer, registration under another name, no gradient (a fixed network).
"""

from __future__ import annotations

from typing import Any

from firstcause.check.dry.child.modules import everywhere
from firstcause.check.dry.child.modules import inside as calling
from firstcause.check.dry.child.optimizers import held
from firstcause.check.dry.child.watcher import Watcher


class Unregistered(Watcher):
    SLUG = "unregistered-submodules"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.owners: dict[int, Any] = {}
        self.steps = 0

    def inner(self, module: Any, output: Any) -> None:
        if calling:
            self.owners.setdefault(id(calling[-1]), calling[-1])

    def forward(self, module: Any, inputs: Any, output: Any) -> None:
        self.owners.setdefault(id(module), module)

    def stepped(self, optimizer: Any) -> None:
        self.steps += 1
        if self.steps not in (2, 5):
            return
        known = {id(p) for o in everywhere() for p in held(o)}
        for owner in list(self.owners.values()):
            own = {id(p) for p in owner.parameters()}
            if not own & known:
                continue
            for name, value in vars(owner).items():
                if name.startswith("_"):
                    continue
                lost = [
                    p
                    for m in _modules(value)
                    for p in m.parameters()
                    if p.grad is not None and id(p) not in known and id(p) not in own
                ]
                if lost:
                    self._tell(owner, name, len(lost))

    def _tell(self, owner: Any, name: str, many: int) -> None:
        place = _assigned(self.session, type(owner), name)
        text = (
            f"self.{name} of {type(owner).__name__} is a plain container: {many} parameters in it get gradients and are in "
            "no optimizer; make it an nn.ModuleList or nn.ModuleDict"
        )
        self.session.find(self.SLUG, "critical", text, place)


def _modules(value: Any) -> list[Any]:
    import torch

    if isinstance(value, torch.nn.Module):
        return []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [v for v in items if isinstance(v, torch.nn.Module)]


def _assigned(session: Any, cls: type, name: str) -> Any:
    """The line that first assigns the attribute."""
    import inspect
    import re

    try:
        lines, first = inspect.getsourcelines(cls)
    except (OSError, TypeError):
        return None
    for offset, line in enumerate(lines):
        if re.search(rf"self\.{name}\b(\s*:[^=]+)?\s*=[^=]", line):
            return inspect.getsourcefile(cls) or "", first + offset
    return None
