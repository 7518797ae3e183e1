"""The one recurrent network, or the one encoder, of a program: its width, its layers and its dropout are those asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from firstcause.check.code import Call, Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.values import value_of

DROPOUT = ("torch.nn.Dropout", "torch.nn.Dropout1d", "torch.nn.Dropout2d", "torch.nn.functional.dropout")
RECURRENT = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
ENCODER, LAYER = "torch.nn.TransformerEncoder", "torch.nn.TransformerEncoderLayer"
OTHERS = ("torch.nn.TransformerDecoderLayer", "torch.nn.MultiheadAttention", "torch.nn.Transformer")


@dataclass(frozen=True)
class _Size:
    """An argument of a network, where it stands, the key that it sets, and its default; None where there is none."""

    argument: str
    position: int | None
    key: str
    default: Any = None


_OF_RECURRENT = (
    _Size("hidden_size", 1, "hidden_size"),
    _Size("num_layers", 2, "num_layers", 1),
    _Size("dropout", None, "dropout", 0.0),
)
_OF_LAYER = (_Size("d_model", 0, "hidden_size"), _Size("dropout", 3, "dropout", 0.1))
_OF_ENCODER = (_Size("num_layers", 1, "num_layers"),)


def only_recurrent(code: Code) -> Call | None:
    """The recurrent network of a program that has one, and no attention beside it."""
    found = code.calls(*RECURRENT)
    return found[0] if len(found) == 1 and not code.calls(LAYER, *OTHERS) else None


def network_facts(code: Code) -> Iterator[Fact]:
    """Facts of hidden_size, num_layers and dropout where one network alone can be meant."""
    recurrent = only_recurrent(code)
    if recurrent is not None:
        yield from _sizes(code, recurrent, _OF_RECURRENT)
    layers, encoders = code.calls(LAYER), code.calls(ENCODER)
    if len(layers) == len(encoders) == 1 and not code.calls(*RECURRENT, *OTHERS):
        yield from _sizes(code, layers[0], _OF_LAYER)
        yield from _sizes(code, encoders[0], _OF_ENCODER)


def _sizes(code: Code, call: Call, sizes: tuple[_Size, ...]) -> Iterator[Fact]:
    name = call.name.rpartition(".")[2]
    elsewhere = bool(code.calls(*DROPOUT)) or any("drop" in n.lower() for n in code.called_names())
    for size in sizes:
        # A rate elsewhere may be the one that is meant.
        open_ = size.key == "dropout" and elsewhere
        found = value_of(call, size.argument, size.position)
        if found is not None and isinstance(found.value, (int, float)) and (found.value or not open_):
            how = f"{name}({size.argument}=)"
            sure = not found.overridable
            yield Fact(size.key, found.value, found.site, how, size.argument, sure, confirms=open_)
        elif size.default is not None and not open_ and _leaves_out(call, size):
            how = f"{name} without {size.argument}, whose default it is"
            yield Fact(size.key, size.default, call.site, how, size.argument, explicit=False)


def _leaves_out(call: Call, size: _Size) -> bool:
    given = len(call.node.args)
    return not call.may_have(size.argument) and (size.position is None or given <= size.position)
