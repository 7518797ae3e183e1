"""DistributedDataParallel: how the model was wrapped, and the parameters that got no gradient when it refused to go on."""

from __future__ import annotations

import re
import sys
from types import ModuleType
from typing import Any

from firstcause.lab import places
from firstcause.lab.ranked import Watcher, around

UNFINISHED = "Expected to have finished reduction in the prior iteration"
_INDICES = re.compile(r"did not receive grad for rank \d+: ([\d ]+)")


class Wrapped(Watcher):
    """One entry a wrapped model; ``refused`` once it has raised for parameters without a gradient."""

    PATCHES = ("torch.nn.parallel.distributed",)

    def __init__(self) -> None:
        self.models: list[dict[str, Any]] = []

    def patch(self, module: ModuleType) -> None:
        watch = self

        def init(original: Any) -> Any:
            def __init__(own: Any, wrapped: Any, *args: Any, **kwargs: Any) -> None:
                names = [n for n, p in wrapped.named_parameters() if p.requires_grad]
                facts = {
                    "made": places.of_frame(sys._getframe(1), columns=True),
                    "finds_unused": bool(kwargs.get("find_unused_parameters")),
                    "class": type(wrapped).__name__,
                    "names": names,
                    "forwards": [],
                    "refused": None,
                }
                own.__dict__["_fc_facts"] = facts
                own.__dict__["_fc_reached"] = reached = set()
                watch.models.append(facts)
                original(own, wrapped, *args, **kwargs)
                for name, parameter in wrapped.named_parameters():
                    if parameter.requires_grad:
                        parameter.register_post_accumulate_grad_hook(lambda p, n=name: reached.add(n))

            return __init__

        def forward(original: Any) -> Any:
            def forward(own: Any, *args: Any, **kwargs: Any) -> Any:
                facts, reached = own.__dict__.get("_fc_facts"), own.__dict__.get("_fc_reached")
                if facts is None:
                    return original(own, *args, **kwargs)
                called = {
                    "site": places.of_frame(sys._getframe(1)),
                    "given": _plain((*args, *kwargs.values())),
                }
                try:
                    result = original(own, *args, **kwargs)
                except RuntimeError as error:
                    if UNFINISHED in str(error):
                        facts["refused"] = called | {
                            "unused": _unused(str(error), facts["names"], reached),
                            "calls": len(facts["forwards"]),
                            "message": str(error)[:200],
                        }
                    raise
                facts["forwards"] = [*facts["forwards"][-3:], called]
                reached.clear()
                return result

            return forward

        around(module.DistributedDataParallel, "__init__", init)
        around(module.DistributedDataParallel, "forward", forward)

    def facts(self) -> Any:
        return list(self.models)


def _unused(message: str, names: list[str], reached: set[str]) -> list[str]:
    """The names behind the reducer's own indices; where it gives none, what no gradient reached since the last forward."""
    found = _INDICES.search(message)
    indices = [int(i) for i in found[1].split()] if found else []
    named = [names[i] for i in indices if i < len(names)]
    return named or [n for n in names if n not in reached]


def _plain(arguments: tuple[Any, ...]) -> list[str]:
    """What the forward was given besides tensors: a branch of it may hang on that."""
    return [repr(a)[:60] for a in arguments if isinstance(a, (str, int, float, bool, type(None)))][:4]
