"""What every function of torch passes through: an accelerator called cuda that does not exist, and our watchers."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.overrides import TorchFunctionMode

from firstcause.check.dry.child import attention, autocast, clock, literals, recurrent, sequences, tags
from firstcause.check.dry.child.loops import DEVICE
from firstcause.check.dry.child.losses import LOSSES, handed
from firstcause.check.dry.child.mistakes import remember
from firstcause.check.dry.child.names import NAME, inside, outside
from firstcause.check.dry.child.numbers import Number, listed

if TYPE_CHECKING:
    from firstcause.check.dry.child.fake import Mode
    from firstcause.check.dry.child.session import Session

# Functions that are computed in another way, where what they are given asks for it.
PLAYED = {
    "scaled_dot_product_attention": attention.fused,
    "_pack_padded_sequence": sequences.packed,
    "_pad_packed_sequence": sequences.padded,
    "ctc_loss": sequences.aligned,
    **dict.fromkeys(recurrent.KINDS, recurrent.fused),
}


class Accelerator(TorchFunctionMode):
    """Maps cuda to the emulated device, casts as autocast would, and tells the watchers what was computed."""

    def __init__(self, session: Session, mode: Mode) -> None:
        super().__init__()
        self.session, self.mode = session, mode
        setattr(builtins, DEVICE, outside)
        # Some versions of torch ask each element instead, and pass by what is answered here.
        FakeTensor.tolist = torch.Tensor.tolist
        run = torch.autograd._engine_run_backward

        def engine(*args: Any, **kwargs: Any) -> Any:
            # The program's own autograd functions are called from inside, and name devices as it does.
            session.gradients += 1
            for asked in args[4] if len(args) > 4 else ():
                if isinstance(asked, torch.Tensor):
                    asked.fc_asked = True
            # In this thread: the clock can interrupt no other one.
            with self, torch.autograd.set_multithreading_enabled(False), clock.engine():
                return run(*args, **kwargs)

        torch.autograd._engine_run_backward = engine

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        clock.look()
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name == "__get__":
            return self._attribute(func, args)
        if name == "__set__" and getattr(func.__self__, "__name__", "") == "data":
            self.session.emit("changed", [args[0]], "data")
        special = getattr(self, f"_on_{name}", None)
        if special is not None:
            return special(func, args, kwargs)
        if "device" in kwargs:
            device = kwargs["device"]
            number = isinstance(device, int) and not isinstance(device, bool)
            kwargs["device"] = torch.device(NAME, 0) if number else inside(device)
        if name == "to":
            args = (args[0], *(_target(a) for a in args[1:]))
        else:
            args = tuple(inside(a) if isinstance(a, torch.device) else a for a in args)
        args, kwargs, made_up = literals.read(name, args, kwargs)
        args, kwargs = autocast.cast(name, args, kwargs)
        if name in LOSSES:
            inputs = handed(name, args, kwargs)
            if inputs is not None:
                self.session.emit("loss", name, inputs, kwargs)
        try:
            played = PLAYED.get(name)
            out = None if played is None else played(self.session, func, args, kwargs)
            out = func(*args, **kwargs) if out is None else out
        except Exception as error:
            remember(error, name, args, kwargs, self.session)
            raise
        if made_up:
            out.constant = None
        if isinstance(out, torch.Tensor):
            tags.carry(self.session, name, args, out)
        self.session.emit("operated", name, args, out)
        return out

    def _attribute(self, func: Any, args: Any) -> Any:
        owner = getattr(func.__self__, "__name__", "")
        if owner == "is_cuda":
            return args[0].device.type == NAME
        out = func(*args)
        if owner in ("data", "T", "mT", "H") and isinstance(out, torch.Tensor):
            tags.carry(self.session, owner, args, out)
            if owner == "data":
                out.fc_data_of = args[0]
        return out

    def _on_backward(self, func: Any, args: Any, kwargs: Any) -> None:
        root = args[0] if isinstance(args[0], torch.Tensor) else next(iter(args[0]), None)
        if self.mode.in_backward:
            func(*args, **kwargs)
            return
        self.session.emit("backward", root)
        self.mode.in_backward, self.mode.quiet = True, self.mode.quiet + 1
        try:
            func(*args, **kwargs)
        except Exception as error:
            remember(error, "backward", (), {}, self.session)
            error.fc_root = root  # type: ignore[attr-defined]
            raise
        finally:
            self.mode.in_backward, self.mode.quiet = False, self.mode.quiet - 1
        self.session.backwards += 1
        self.session.emit("backward_done", root)

    def _on_cuda(self, func: Any, args: Any, kwargs: Any) -> Any:
        with self:
            return args[0].to(torch.device(NAME, 0))

    def _on___deepcopy__(self, func: Any, args: Any, kwargs: Any) -> Any:
        tensor, memo = args
        if not isinstance(tensor, FakeTensor) or not tensor.is_leaf:
            return func(*args)
        if id(tensor) not in memo:
            # torch copies the storage, which there is none of.
            copy = tensor.detach().clone()
            is_parameter = isinstance(tensor, torch.nn.Parameter)
            memo[id(tensor)] = torch.nn.Parameter(copy, tensor.requires_grad) if is_parameter else copy
            memo[id(tensor)].requires_grad_(tensor.requires_grad)
        return memo[id(tensor)]

    def _on_pin_memory(self, func: Any, args: Any, kwargs: Any) -> Any:
        return args[0]

    def _on_share_memory_(self, func: Any, args: Any, kwargs: Any) -> Any:
        return args[0]

    def _on_item(self, func: Any, args: Any, kwargs: Any) -> Any:
        value = func(*args)
        known = getattr(args[0], "constant", None) is not None
        return Number(value, self.session) if isinstance(value, float) and not known else value

    def _on___float__(self, func: Any, args: Any, kwargs: Any) -> Any:
        if not isinstance(args[0], FakeTensor) or args[0].numel() != 1:
            return func(*args)
        # torch.Tensor([a, b]) asks this way while it lets no mode see what it does.
        value = self.mode.dispatch(torch.ops.aten._local_scalar_dense.default, (), (args[0],))
        asked = getattr(value, func.__name__, None)
        return asked() if asked is not None else func(*args)

    _on___int__ = _on___index__ = _on___float__

    def _on_tolist(self, func: Any, args: Any, kwargs: Any) -> Any:
        return listed(args[0], self.session) if isinstance(args[0], FakeTensor) else func(*args)

    def _on_numpy(self, func: Any, args: Any, kwargs: Any) -> Any:
        if not isinstance(args[0], FakeTensor):
            return func(*args, **kwargs)
        if args[0].device.type == NAME:
            raise TypeError(
                "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
            )
        if args[0].requires_grad and torch.is_grad_enabled() and not kwargs.get("force"):
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
            )
        constant = getattr(args[0], "constant", None)
        if constant is not None:
            with unset_fake_temporarily():
                return constant.clone().numpy()
        self.session.made_up_sizes = True
        return _array(args[0])

    def _on___array__(self, func: Any, args: Any, kwargs: Any) -> Any:
        if not isinstance(args[0], FakeTensor):
            return func(*args, **kwargs)
        array = self._on_numpy(func, args[:1], {})
        return array if len(args) < 2 or args[1] is None else array.astype(args[1])

    def _on___format__(self, func: Any, args: Any, kwargs: Any) -> str:
        if isinstance(args[0], FakeTensor):
            return format(args[0].item(), args[1]) if args[0].dim() == 0 else format(repr(args[0]), args[1])
        return str(func(*args))


def _array(tensor: Any) -> Any:
    import numpy

    names = {torch.bfloat16: "float32", torch.bool: "bool"}
    dtype = names.get(tensor.dtype, str(tensor.dtype).removeprefix("torch."))
    return numpy.ones(tuple(tensor.shape), dtype=dtype)


def _target(value: Any) -> Any:
    number = isinstance(value, int) and not isinstance(value, bool)
    return torch.device(NAME, 0) if number else inside(value)
