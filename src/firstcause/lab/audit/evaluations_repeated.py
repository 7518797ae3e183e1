"""Evaluations in which dropout acts: each such pass once more on the same batch, and once without dropout."""

from __future__ import annotations

import os
import re
import sys
from types import FrameType
from typing import Any

import torch

from firstcause.installed import is_installed
from firstcause.lab import places
from firstcause.lab.audit import Call, Watcher
from firstcause.lab.modes import drops
from firstcause.lab.optimizers import Optimizers
from firstcause.lab.quiet_pass import unchanged

# Names of functions whose passes are evaluations, and of those that drop values on purpose.
EVALUATES = re.compile(
    r"eval|valid|(^|_)val(_|$)|test|accura|score|metric|predict|infer|report|measure", re.IGNORECASE
)
MEANT = re.compile(
    r"mc_|monte|uncertain|stochastic|ensemble|teacher|pseudo|rollout|explor|augment|bayes", re.IGNORECASE
)
# Where the mode alone says that it is an evaluation, these too, and the word itself: noise that is wanted.
WANTED = re.compile(r"synth|sampl|prenet|noise|generat|draw", re.IGNORECASE)
SPELLED = re.compile(r"training\s*=\s*True")
CHECKPOINT = "/torch/utils/checkpoint"
REPEATED, SHOWN = 3, 6


class Watch(Watcher):
    """Random numbers and buffers are put back, so that the program goes on as it would have."""

    CALLS = frozenset({"dropout", "scaled_dot_product_attention", "alpha_dropout", "feature_dropout"})

    def start(self) -> None:
        self.optimizers = Optimizers()
        self.busy = False
        self.running: list[torch.nn.Module] = []
        self.dropping: list[dict[str, Any]] = []
        self.found: dict[tuple[str, int, str], dict[str, Any]] = {}
        # The frame is held, so that no later one passes for it.
        self.last: tuple[Any, int] = (None, 0)
        self.repeated_input = False
        hooks = torch.nn.modules.module
        hooks.register_module_forward_pre_hook(lambda module, args: self.running.append(module))

    def called(self, call: Call) -> None:
        """A function that drops while the module around it is in evaluation mode."""
        if self.busy or torch.is_grad_enabled() or not self.running or self.running[-1].training:
            return
        share = call.kwargs.get("dropout_p" if call.name.startswith("scaled") else "p", 0.5)
        training = call.kwargs.get("training", True)
        site = places.of_frame(sys._getframe(1), columns=True)
        if (
            training
            and share
            and site is not None
            and not (is_installed(site["file"]) and f"{os.sep}torch" in site["file"])
        ):
            self.dropping.append({"kind": "function", "name": call.name, "site": site, "share": float(share)})

    def ran(self, module: torch.nn.Module, args: tuple[Any, ...], result: Any) -> None:
        while self.running and self.running.pop() is not module:
            pass
        if self.busy or torch.is_grad_enabled():
            return
        if drops(module) and module.training:
            self.dropping.append(
                {"kind": "module", "name": type(module).__name__, "site": None, "share": 0.0}
            )
        if not self.running:
            dropping, self.dropping = self.dropping, []
            if dropping and isinstance(result, torch.Tensor):
                self._outermost(module, args, result, dropping, sys._getframe(1))

    def _outermost(
        self,
        module: torch.nn.Module,
        args: tuple[Any, ...],
        result: torch.Tensor,
        dropping: Any,
        frame: FrameType,
    ) -> None:
        stack = list(_all(frame))
        if any(CHECKPOINT in f.f_code.co_filename for f in stack):
            return
        users = [f for f in stack if places.is_user_file(f.f_code.co_filename)]
        names = [f.f_code.co_name for f in users]
        held = self.optimizers.held()
        trained = any(id(p) in held for p in module.parameters())
        evaluating = next((f for f in users if EVALUATES.search(f.f_code.co_name)), None)
        dropped = next((d for d in dropping if d["kind"] == "function"), None)
        if evaluating is None and users and not module.training and dropped is not None:
            # The mode says it, whatever the function is called.
            classes = [type(m).__name__ for m in module.modules()]
            meant = SPELLED.search(dropped["site"]["text"]) or any(map(WANTED.search, [*names, *classes]))
            evaluating = None if meant else users[0]
        if evaluating is None or not trained or any(map(MEANT.search, names)):
            return
        if args and isinstance(args[0], torch.Tensor):
            key = hash((args[0].shape, float(args[0].double().sum())))
            # The same batch again and again is a Monte Carlo estimate; once an epoch is an evaluation.
            self.repeated_input |= self.last[0] is users[0] and self.last[1] == key
            self.last = (users[0], key)
        first = dropped or dropping[0]
        site = first["site"] or places.standing(evaluating)
        key_of = (site["file"], site["line"], first["name"])
        if key_of not in self.found and len(self.found) < SHOWN:
            self.found[key_of] = first | {
                "site": site,
                "passes": 0,
                "function": evaluating.f_code.co_name,
                "figures": [],
                "alike": [],
            }
            self.found[key_of]["first_line"] = evaluating.f_code.co_firstlineno
        if key_of in self.found:
            one = self.found[key_of]
            one["passes"] += 1
            for other in dropping if len(one["alike"]) < SHOWN else ():
                alike = other["kind"] == "function" and other["name"] == first["name"]
                if alike and other["site"] not in [site, *one["alike"]]:
                    one["alike"].append(other["site"])
            if len(one["figures"]) < REPEATED:
                figures = self._repeat(module, args, result)
                one["figures"] += [figures] if figures is not None else []

    def _repeat(self, module: torch.nn.Module, args: Any, result: torch.Tensor) -> list[float] | None:
        """How far a second pass lies from the first, and two without dropout from each other, in parts of the spread."""
        self.busy = True
        try:
            with unchanged(module):
                again = module(*args)
                with Without():
                    quiet = [module(*args), module(*args)]
        except (TypeError, RuntimeError, IndexError, ValueError):
            # A pass that takes keyword arguments, or cannot be made twice.
            return None
        finally:
            self.busy = False
        spread = float(result.float().std()) or 1.0
        return [_apart(again, result) / spread, _apart(quiet[0], quiet[1]) / spread]

    def facts(self) -> dict[str, Any]:
        found = [] if self.repeated_input else [f for f in self.found.values() if f["figures"]]
        return {"evaluations": found}


class Without(torch.overrides.TorchFunctionMode):
    """Dropout hands its input on; attention drops nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if "dropout" in name and args:
            return args[0]
        if name == "scaled_dot_product_attention":
            kwargs["dropout_p"] = 0.0
        return func(*args, **kwargs)


def _apart(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).float().abs().mean()) if one.shape == other.shape else 0.0


def _all(frame: FrameType | None) -> Any:
    while frame is not None:
        yield frame
        frame = frame.f_back
