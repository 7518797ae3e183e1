"""Recurrent networks as the device's own kernel computes them: one operator for all times and layers, packed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from firstcause.check.dry.child.sequences import lengths_of

if TYPE_CHECKING:
    from firstcause.check.dry.child.fake import Mode
    from firstcause.check.dry.child.session import Session

aten = torch.ops.aten
# By the number that the kernel knows each by.
KINDS = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}


def fused(session: Session, func: Any, args: Any, kwargs: Any) -> Any:
    """The output and the last states; None where the arguments do not fit, which torch shall say itself."""
    if len(args) != 9 or kwargs:
        return None
    is_packed = isinstance(args[3], (list, tuple))
    if is_packed:
        data, batch_sizes, state, weights, biased, layers, dropout, training, both = args
        sizes, batch_first = lengths_of(session, batch_sizes), False
    else:
        data, state, weights, biased, layers, dropout, training, both, batch_first = args
        sizes = []
    kind = KINDS[func.__name__]
    hidden, cell = state if kind == KINDS["lstm"] else (state, None)
    given = [data, hidden, *weights]
    if sizes is None or len({(t.dtype, t.device) for t in given}) > 1:
        return None
    width = hidden.shape[-1] if cell is None else cell.shape[-1]
    projected = 0 if hidden.shape[-1] == width else hidden.shape[-1]
    each = (4 if biased else 2) + bool(projected)
    out, *last = torch._cudnn_rnn(
        data,
        weights,
        each,
        data.new_empty(0),
        hidden,
        cell,
        kind,
        width,
        projected,
        layers,
        batch_first,
        dropout,
        training,
        both,
        sizes,
        None,
    )
    return (out, *last[:2]) if cell is not None else (out, last[0])


def _backward(
    mode: Mode, data: Any, weights: Any, each: int, buffer: Any, hidden: Any, cell: Any, *rest: Any
) -> Any:
    return _like(data), _like(hidden), None if cell is None else _like(cell), [_like(w) for w in weights]


def _gru_cell(mode: Mode, inputs: Any, hiddens: Any, state: Any, *biases: Any) -> Any:
    return _like(state), state.new_empty((state.shape[0], 5 * state.shape[1]))


def _gru_cell_backward(mode: Mode, grad: Any, workspace: Any, has_bias: bool) -> Any:
    gates = (grad.shape[0], 3 * grad.shape[1])
    biases = [grad.new_empty(gates[1:]) if has_bias else None for _ in range(2)]
    return grad.new_empty(gates), grad.new_empty(gates), _like(grad), *biases


def _like(tensor: Any) -> Any:
    return tensor.new_empty(tuple(tensor.shape))


ANSWERS = {
    aten._cudnn_rnn_backward.default: _backward,
    aten._thnn_fused_gru_cell.default: _gru_cell,
    aten._thnn_fused_gru_cell_backward.default: _gru_cell_backward,
}
