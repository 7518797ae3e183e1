"""A recording of one device replayed on another: whatever the program says of a device leads to that one.

In a sealed process alone, before the program's first line. Names of devices reach torch in many ways, so the
factory of devices, the functions that take one, and the few classes that are made for one are all led there.
"""

from __future__ import annotations

import contextlib
import functools
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firstcause.record.observe.finder import Finder

DEVICE = "FIRSTCAUSE_DEVICE"
ELSEWHERE = ("cuda", "mps", "xpu", "hpu", "npu")
# Of a device that is not there, these do nothing.
SILENT = (
    "synchronize",
    "set_device",
    "empty_cache",
    "reset_peak_memory_stats",
    "reset_max_memory_allocated",
    "reset_accumulated_memory_stats",
    "ipc_collect",
    "init",
)
ZERO = (
    "current_device",
    "memory_allocated",
    "max_memory_allocated",
    "memory_reserved",
    "max_memory_reserved",
)


def wanted() -> str | None:
    """The device that this process is to use for every other, or None."""
    return os.environ.get(DEVICE)


def lead(finder: Finder) -> None:
    """Lead every other device to the wanted one, as soon as torch is there."""
    if wanted() is not None:
        finder.meet({"torch": _lead_torch, "safetensors.torch": _lead_safetensors})


def judged(result: dict[str, Any], devices: list[str], same: bool) -> dict[str, Any]:
    """A replay's own comparison, or what can be said of one on another device: never that it is exact."""
    here = wanted()
    if here is None or all(d == here for d in devices):
        return result
    what = "it fails in the same way" if same else "it does not fail in the same way"
    why = f"recorded on {', '.join(d for d in devices if d != here)}, replayed on {here}, which is not bit-exact: {what}"
    return result | {"exact": False, "device": here, "same": same, "why": why}


def led(value: Any) -> Any:
    """The device that stands for ``value`` here: a name or a device of elsewhere becomes the wanted one."""
    import torch

    here = wanted() or "cpu"
    if isinstance(value, str) and value.partition(":")[0] in ELSEWHERE:
        return here
    if isinstance(value, torch.device) and value.type in ELSEWHERE:
        return torch.device(here)
    return value


def _lead_torch(torch: Any) -> None:
    _lead_devices(torch)
    _lead_functions(torch)
    _lead_cuda(torch)
    _lead_loading(torch)


def _lead_devices(torch: Any) -> None:
    plain = torch.device

    class Devices(type):
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, plain)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(other, plain)

    class device(metaclass=Devices):
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            if args and isinstance(args[0], int):
                # A number alone is a device of CUDA.
                return plain(wanted() or "cpu")
            made = led(args[0] if args else kwargs.get("type"))
            return (
                plain(made) if made != (args[0] if args else kwargs.get("type")) else plain(*args, **kwargs)
            )

    _named(device, "device")
    torch.device = device
    generator = torch.Generator

    class Generator(generator):  # type: ignore[misc,valid-type]
        def __new__(cls, device: Any = "cpu") -> Any:
            return super().__new__(cls, led(device))

    _named(Generator, "Generator")
    torch.Generator = Generator
    from torch.utils import _device

    init = _device.DeviceContext.__init__
    _device.DeviceContext.__init__ = lambda self, device: init(self, led(device))
    autocast = torch.autocast.__init__

    @functools.wraps(autocast)
    def begin(self: Any, device_type: str, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
        if device_type in ELSEWHERE and dtype is None:
            dtype = torch.float16
        autocast(self, led(device_type), dtype, *args, **kwargs)

    torch.autocast.__init__ = begin
    scaler = torch.amp.GradScaler.__init__
    torch.amp.GradScaler.__init__ = lambda self, device="cuda", *args, **kwargs: scaler(
        self, led(device), *args, **kwargs
    )


def _named(stands_in: type, name: str) -> None:
    """What is pickled by name is found again under torch's own."""
    stands_in.__module__, stands_in.__name__, stands_in.__qualname__ = "torch", name, name


def _lead_functions(torch: Any) -> None:
    from torch.overrides import TorchFunctionMode

    tensor = torch.Tensor
    itself = {tensor.cuda, tensor.pin_memory}

    class Led(TorchFunctionMode):
        """Arguments of every function: the few positional ones that may be a device, and ``device``."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if func in itself:
                return args[0]
            if func is tensor.record_stream:
                return None
            if "device" in kwargs:
                kwargs = {**kwargs, "device": led(kwargs["device"])}
            if func is tensor.to:
                args = tuple(map(led, args))
            return func(*args, **kwargs)

    Led().__enter__()


def _lead_cuda(torch: Any) -> None:
    cuda = torch.cuda
    for name in SILENT:
        if hasattr(cuda, name):
            setattr(cuda, name, lambda *args, **kwargs: None)
    for name in ZERO:
        if hasattr(cuda, name):
            setattr(cuda, name, lambda *args, **kwargs: 0)
    cuda.manual_seed = cuda.manual_seed_all = lambda seed: None
    # Until torch 2.5, importing dynamo asks for classes that are made from the real ones.
    for name in ("Event", "Stream"):
        setattr(cuda, name, type(name, (getattr(cuda, name),), {"__new__": lambda cls, *a, **k: _Nothing()}))
    cuda.stream = lambda stream: contextlib.nullcontext()
    cuda.current_stream = cuda.default_stream = _Nothing


class _Nothing:
    """An event or a stream of a device that is not there: whatever is asked of it, nothing is to be done."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As events and streams are made."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: 0.0


def _lead_loading(torch: Any) -> None:
    plain = torch.load

    @functools.wraps(plain)
    def load(f: Any, map_location: Any = None, *args: Any, **kwargs: Any) -> Any:
        kept = map_location if callable(map_location) or isinstance(map_location, dict) else None
        return plain(f, kept or led(map_location or (wanted() or "cpu")), *args, **kwargs)

    torch.load = load


def _lead_safetensors(module: Any) -> None:
    plain = module.load_file
    module.load_file = functools.wraps(plain)(
        lambda filename, device="cpu", *args, **kwargs: plain(filename, led(device), *args, **kwargs)
    )
