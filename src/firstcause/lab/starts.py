"""Another start for a training, made at the fork: layers as torch initialises them, inputs at unit scale, hidden units that
pass a gradient on. Sealed child only.
"""

from __future__ import annotations

import gc
from typing import Any

import torch
from torch.nn.parameter import is_lazy
from torch.overrides import TorchFunctionMode

from firstcause.lab import places
from firstcause.lab.drawn_by_libraries import weights_of_libraries
from firstcause.lab.first_forward import at_first_forward

LAYERS = (
    torch.nn.Linear,
    torch.nn.Conv1d,
    torch.nn.Conv2d,
    torch.nn.Conv3d,
)
SQUASHING = ("sigmoid", "tanh")
# Weights within this share of the spread that torch gives them are as torch initialises them.
NEAR = 0.2
# A table of no more features is scaled by a number for each of them.
SHOWN = 16


class Order:
    """The number of an activation call since the outermost module began, the same in every pass of one model."""

    def __init__(self) -> None:
        self.depth = self.count = 0
        torch.nn.modules.module.register_module_forward_pre_hook(self._enter)
        torch.nn.modules.module.register_module_forward_hook(self._leave, always_call=True)

    def _enter(self, module: torch.nn.Module, args: Any) -> None:
        self.count = self.count if self.depth else 0
        self.depth += 1

    def _leave(self, module: torch.nn.Module, args: Any, result: Any) -> None:
        self.depth -= 1

    def next(self) -> int:
        self.count += 1
        return self.count - 1


def spread_of_default(weight: torch.Tensor) -> float:
    """The standard deviation that torch gives a weight: uniform within one over the root of its inputs."""
    return float((3 * max(1, weight[0].numel())) ** -0.5)


def is_default(layer: torch.nn.Module) -> bool:
    """Whether a layer looks as torch initialises it."""
    weight, bias = layer.weight, layer.bias
    assert isinstance(weight, torch.Tensor)
    plain = spread_of_default(weight)
    most = plain * 3**0.5 * (1 + NEAR)
    few = weight.numel() < 16
    near = few or abs(float(weight.detach().float().std()) / plain - 1) <= NEAR
    return near and all(
        float(p.detach().abs().max()) <= most for p in (weight, bias) if isinstance(p, torch.Tensor)
    )


def layers() -> list[torch.nn.Module]:
    """Every linear and convolution layer whose weight is trained, and made already; none whose values a library drew."""
    foreign = weights_of_libraries()
    found = [m for m in gc.get_objects() if issubclass(type(m), LAYERS) and "_parameters" in m.__dict__]
    return [
        m
        for m in found
        if isinstance(m.weight, torch.nn.Parameter)
        and m.weight.requires_grad
        and not is_lazy(m.weight)
        and id(m.weight) not in foreign
    ]


def begin_anew(changed: list[torch.nn.Module]) -> None:
    """Give layers the values that torch begins with; the program's random numbers stay as they are."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        for layer in changed:
            layer.reset_parameters()


def begin_fitting(changed: list[torch.nn.Module], relu: bool) -> None:
    """Give layers weights that keep the size of what passes, which torch's own do not through many layers, and no bias."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        for layer in changed:
            weight, bias = layer.weight, layer.bias
            assert isinstance(weight, torch.Tensor)
            if relu:
                torch.nn.init.kaiming_normal_(weight, nonlinearity="relu")
            else:
                torch.nn.init.xavier_uniform_(weight)
            if isinstance(bias, torch.Tensor):
                torch.nn.init.zeros_(bias)


class Scaled:
    """Float inputs of the outermost modules, less the mean and over the spread of each feature in the first batch."""

    def __init__(self) -> None:
        self.depth = 0
        self.known: dict[tuple[int, int], tuple[torch.Tensor, torch.Tensor]] = {}
        self.first: dict[str, Any] = {}
        torch.nn.modules.module.register_module_forward_pre_hook(self._enter)
        torch.nn.modules.module.register_module_forward_hook(self._leave, always_call=True)

    def _enter(self, module: torch.nn.Module, args: tuple[Any, ...]) -> Any:
        self.depth += 1
        if self.depth > 1:
            return None
        return tuple(self._scaled(module, number, value) for number, value in enumerate(args))

    def _leave(self, module: torch.nn.Module, args: Any, result: Any) -> None:
        self.depth -= 1

    def _scaled(self, module: torch.nn.Module, number: int, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.requires_grad:
            return value
        if value.dim() < 2 or len(value) < 2:
            return value
        key = (id(module), number)
        if key not in self.known:
            self.known[key] = scale_of(value)
            self.first = self.first or _told(module, value, *self.known[key])
        mean, spread = self.known[key]
        return (value - mean) / spread


def _told(
    module: torch.nn.Module, value: torch.Tensor, mean: torch.Tensor, spread: torch.Tensor
) -> dict[str, Any]:
    by_feature = value.dim() == 2 and mean.numel() <= SHOWN
    return {
        "mean": mean.flatten().tolist() if by_feature else [float(value.mean())],
        "spread": spread.flatten().tolist() if by_feature else [float(value.std())],
        "class_name": type(module).__name__,
        "site": places.here(),
    }


def scale_of(value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and spread of a batch: by feature where it is a table, by channel of images, of all else together."""
    if value.dim() == 3:
        return value.mean(), value.std() + 1e-6
    over = [0, *range(2, value.dim())]
    spread = value.std(dim=over, keepdim=True)
    return value.mean(dim=over, keepdim=True), spread.where(spread > 1e-6, torch.ones_like(spread))


class Passing(TorchFunctionMode):
    """Squashing functions between two layers give what ``relu`` gives."""

    def __init__(self, hidden: frozenset[int]) -> None:
        super().__init__()
        self.hidden, self.order = hidden, Order()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = str(getattr(func, "__name__", "")).strip("_")
        if name in SQUASHING or name == "relu":
            number = self.order.next()
            if name in SQUASHING and number in self.hidden:
                return torch.relu(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


class Start:
    """The start that ``settings["start"]`` names (``default``, ``fitting``, ``scaled``, ``passing``), or the program's own."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.wanted, self.relu = settings.get("start"), bool(settings.get("relu"))
        self.scaled = Scaled() if self.wanted == "scaled" else None
        if self.wanted == "passing":
            Passing(frozenset(settings.get("hidden") or ())).__enter__()
        self.differing = self.anew = 0
        at_first_forward(self._begin)

    def _begin(self) -> None:
        changed = [m for m in layers() if not is_default(m)]
        self.differing = len(changed)
        if self.wanted == "default":
            begin_anew(changed)
            self.anew = len(changed)
        elif self.wanted == "fitting":
            begin_fitting(changed, self.relu)
            self.anew = len(changed)

    def facts(self) -> dict[str, Any]:
        """How many layers begin in another way than torch's, how many began anew, and what the inputs were scaled by."""
        scale = self.scaled.first if self.scaled is not None else None
        return {"differing": self.differing, "begun_anew": self.anew, "scale": scale}
