"""Sequences of different lengths: packed, padded again, and aligned by CTC.

Where their lengths are known, so are the sizes; else each is taken to be as long as the longest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.nn.utils import rnn

from firstcause.check.dry.child.names import NAME

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

CTC = ("log_probs", "targets", "input_lengths", "target_lengths", "blank", "reduction", "zero_infinity")


def install() -> None:
    """Let it be known on the processor in which order the sequences stand, as the lengths are."""
    rnn.invert_permutation = lambda order: None if order is None else order.cpu().argsort().to(order.device)


def packed(session: Session, func: Any, args: Any, kwargs: Any) -> Any:
    """``_pack_padded_sequence``: torch asks the lengths for their memory."""
    tensor, lengths, batch_first = args
    if lengths.device.type == NAME:
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"
        )
    times_first = tensor.transpose(0, 1) if batch_first else tensor
    longest, many = times_first.shape[:2]
    given = lengths_of(session, lengths)
    with unset_fake_temporarily():
        real = torch.full((many,), longest) if given is None else torch.tensor(given)
        # What is wrong with the lengths torch says itself.
        sizes = torch._VF._pack_padded_sequence(torch.zeros(longest, many, 1), real, False)[1].tolist()
    return times_first[_positions(sizes)], torch.tensor(sizes)


def padded(session: Session, func: Any, args: Any, kwargs: Any) -> Any:
    """``_pad_packed_sequence``: as above, of the batch sizes."""
    data, batch_sizes, batch_first, value, total = args
    sizes = lengths_of(session, batch_sizes)
    if sizes is None:
        return None
    if 0 < total < len(sizes):
        raise RuntimeError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total} and max sequence length being {len(sizes)}"
        )
    out = _spread(data, sizes, max(total, len(sizes)), value)
    lengths = torch.tensor([sum(n > row for n in sizes) for row in range(sizes[0])])
    return out.transpose(0, 1) if batch_first else out, lengths


def aligned(session: Session, func: Any, args: Any, kwargs: Any) -> Any:
    """``ctc_loss``: one number a sequence, by way of all that the model said of it."""
    given = dict(zip(CTC, args, strict=False)) | kwargs
    log_probs = given["log_probs"]
    lengths = lengths_of(session, given["input_lengths"]), lengths_of(session, given["target_lengths"])
    blank = given.get("blank", 0)
    if log_probs.dim() == 3 and None not in lengths:
        with unset_fake_temporarily():
            # As above: a sequence that is too long, or one too few.
            zeros = torch.zeros(*log_probs.shape[:2], max(2, blank + 1))
            targets = torch.full(tuple(given["targets"].shape), int(not blank))
            torch._ctc_loss(zeros, targets, *lengths, blank)
    loss = -log_probs.mean((0, -1))
    reduction = given.get("reduction", "mean")
    return loss if reduction in ("none", 0) else loss.mean() if reduction in ("mean", 1) else loss.sum()


def lengths_of(session: Session, lengths: Any) -> list[int] | None:
    """The lengths, where they are known."""
    if not isinstance(lengths, torch.Tensor):
        return [int(n) for n in (lengths if isinstance(lengths, (list, tuple)) else [lengths])]
    constant = getattr(lengths, "constant", None)
    if constant is None:
        session.made_up_sizes = True
        return None
    with unset_fake_temporarily():
        return [int(n) for n in constant.flatten()]


def _spread(data: Any, sizes: list[int], total: int, value: float) -> Any:
    empty = data.new_full((total, sizes[0], *data.shape[1:]), value)
    return empty.index_put(_positions(sizes), data)


def _positions(sizes: list[int]) -> tuple[Any, Any]:
    """Of each row of packed data its time, and its place in the batch."""
    rows = [(time, row) for time, many in enumerate(sizes) for row in range(many)]
    return torch.tensor([time for time, _ in rows]), torch.tensor([row for _, row in rows])
