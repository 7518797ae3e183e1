"""Provokes what torch says, each in the way in which it happens to people; prints a pattern and a message a line."""

from __future__ import annotations

import copy
import io
import json
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

Acts = Iterator[tuple[str, Callable[[], Any]]]
X = torch.ones(2, 3)


def shapes() -> Acts:
    def at(slug: str, *acts: Callable[[], Any]) -> Acts:
        return ((slug, act) for act in acts)

    yield from at(
        "shape-mismatch",
        lambda: nn.Linear(10, 5)(torch.ones(2, 9)),
        lambda: X + torch.ones(2, 5),
        lambda: torch.cat([X, torch.ones(3, 4)], 1),
        lambda: torch.cat([X, torch.ones(3)], 0),
        lambda: X.t().view(-1),
        lambda: X.view(4, 2),
        lambda: nn.Conv2d(3, 8, 3)(torch.ones(1, 4, 8, 8)),
        lambda: nn.Conv2d(3, 8, 3)(torch.ones(4, 3)),
        lambda: nn.Conv2d(3, 8, 9)(torch.ones(1, 3, 4, 4)),
        lambda: torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 5, 4)),
        lambda: nn.BatchNorm1d(4)(torch.ones(2, 3)),
        lambda: nn.LayerNorm(4)(X),
        lambda: F.cross_entropy(torch.ones(3, 5), torch.zeros(2, dtype=torch.long)),
        lambda: X.expand(2, 4),
        lambda: nn.LSTM(4, 5)(torch.ones(2, 1, 4), (torch.ones(1, 1, 6), torch.ones(1, 1, 6))),
        lambda: nn.LSTM(4, 5)(torch.ones(2, 1, 3)),
        lambda: X[torch.ones(3, 3, dtype=torch.bool)],
        lambda: X.sum(4),
        lambda: F.binary_cross_entropy_with_logits(torch.ones(2, 1), torch.ones(2)),
        lambda: torch.einsum("ij,jk->ik", X, torch.ones(4, 5)),
        lambda: torch.tensor([[1, 2], [3]]),
        lambda: X.permute(0),
        lambda: torch.ones(4).split([1, 2]),
        lambda: torch.ones(2, 2)[0, 0, 0],
        lambda: bool(X),
        lambda: nn.MultiheadAttention(7, 2),
        lambda: X.add_(torch.ones(4, 2, 3)),
        lambda: F.pad(torch.ones(1, 1, 3), (4, 4), mode="reflect"),
        lambda: nn.BatchNorm2d(3)(X),
        lambda: torch.mv(X, torch.ones(4)),
    )
    yield "broadcast-target", lambda: F.mse_loss(torch.ones(2, 1), torch.ones(2))
    yield "batchnorm-single-value", lambda: nn.BatchNorm1d(3)(torch.ones(1, 3))
    yield "index-out-of-range", lambda: nn.Embedding(10, 2)(torch.tensor([10]))
    yield "index-out-of-range", lambda: X[5]
    yield "index-out-of-range", lambda: torch.gather(X, 1, torch.tensor([[9]]))
    yield "index-out-of-range", lambda: F.one_hot(torch.tensor([3]), 2)
    yield "target-out-of-range", lambda: F.cross_entropy(torch.ones(1, 5), torch.tensor([5]))
    yield "bce-range", lambda: F.binary_cross_entropy(torch.tensor([2.0]), torch.tensor([1.0]))
    yield "bce-range", lambda: F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([3.0]))
    yield "cpu-alloc-failed", lambda: torch.empty(1 << 60)


def dtypes() -> Acts:
    acts: tuple[Callable[[], Any], ...] = (
        lambda: nn.Linear(3, 2)(X.double()),
        lambda: nn.Conv1d(3, 2, 1)(torch.ones(1, 3, 4).half()),
        lambda: nn.Conv1d(3, 2, 1, bias=False)(torch.ones(1, 3, 4).half()),
        lambda: F.cross_entropy(torch.ones(1, 5), torch.tensor([1.0]).int()),
        lambda: nn.Embedding(4, 2)(X),
        lambda: nn.LSTM(3, 2)(torch.ones(2, 1, 3).double()),
        lambda: torch.ones(2, dtype=torch.int).mean(),
        lambda: torch.ones(2, dtype=torch.int).add_(0.5),
        lambda: torch.where(torch.ones(2), X[0, 0], X[0, 0]),
        lambda: torch.ones(2, dtype=torch.bool) - torch.ones(2, dtype=torch.bool),
        lambda: torch.tensor([1, 2], requires_grad=True),
        lambda: X[torch.tensor([0.5])],
        lambda: F.scaled_dot_product_attention(X, X, X.double()),
        lambda: torch.ones(2, dtype=torch.half).fill_(1e9),
    )
    yield from (("dtype-mismatch", act) for act in acts)
    yield "meta-tensor", lambda: torch.empty(2, device="meta").cpu()
    yield "meta-tensor", lambda: torch.empty(1, device="meta").item()


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        return a * b

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


class Shapeless(Twice):
    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad.new_ones(7), None


def autograd() -> Acts:
    def w() -> torch.Tensor:
        return torch.ones(3, requires_grad=True)

    def saved() -> None:
        y = w().exp()
        y *= 2
        y.sum().backward()

    def twice() -> None:
        y = w().exp().sum()
        y.backward()
        y.backward()

    def inference() -> None:
        with torch.inference_mode():
            t = torch.ones(3)
        (t * w()).sum().backward()

    def unused() -> None:
        torch.autograd.grad(w().sum(), w())

    def anomaly() -> None:
        with torch.autograd.set_detect_anomaly(True):
            torch.zeros(1, requires_grad=True).pow(2).sum().sqrt().backward()

    def clip() -> None:
        p = nn.Parameter(torch.ones(1))
        p.grad = torch.tensor([float("nan")])
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)

    def view() -> None:
        first, *_ = (w() * 1).unbind()
        first.mul_(2)

    def recomputed() -> None:
        calls: list[int] = []

        def block(x: torch.Tensor) -> torch.Tensor:
            calls.append(1)
            return x.exp() if len(calls) == 1 else x[:2].exp()

        checkpoint(block, w(), use_reentrant=False).sum().backward()

    yield "inplace-autograd", saved
    yield "inplace-autograd", lambda: w().add_(1)
    yield "inplace-autograd", view
    yield "inplace-autograd", lambda: copy.deepcopy(w() * 2)
    yield "second-backward", twice
    yield "no-grad-fn", lambda: X.sum().backward()
    yield "unused-in-graph", unused
    yield "nonscalar-backward", lambda: w().exp().backward()
    yield "numpy-on-grad", lambda: w().numpy()
    yield "inference-mode-tensor", inference
    yield "nan-gradient", anomaly
    yield "nan-gradient", clip
    yield "wrong-gradient", lambda: Twice.apply(w(), w()).sum().backward()
    yield "wrong-gradient", lambda: Shapeless.apply(w(), 2).sum().backward()
    yield "checkpoint-recompute-mismatch", recomputed
    yield "sampling-nan", lambda: torch.multinomial(torch.tensor([float("nan"), 1.0]), 1)
    yield "sampling-nan", lambda: torch.distributions.Normal(torch.tensor(float("nan")), 1.0)
    yield "linalg-failure", lambda: torch.linalg.cholesky(-torch.eye(2))
    yield "linalg-failure", lambda: torch.linalg.inv(torch.zeros(2, 2))
    yield "linalg-failure", lambda: torch.linalg.solve(torch.zeros(2, 2), torch.ones(2, 2))
    yield "linalg-failure", lambda: torch.linalg.svd(torch.full((2, 2), float("nan")))


def states() -> Acts:
    def optimizer(*shape: int) -> torch.optim.Optimizer:
        return torch.optim.SGD([nn.Parameter(torch.ones(s)) for s in shape], lr=0.1)

    def two() -> torch.optim.Optimizer:
        p = nn.Parameter(torch.ones(1))
        return torch.optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1)

    def schedule() -> None:
        torch.optim.lr_scheduler.StepLR(optimizer(1), 1).step()

    def unscale(dtype: torch.dtype) -> None:
        scaler = torch.amp.GradScaler("cpu")
        p = nn.Parameter(torch.ones(1, dtype=dtype))
        scaler.scale(p.sum()).backward()
        sgd = torch.optim.SGD([p], lr=0.1)
        scaler.unscale_(sgd)
        scaler.unscale_(sgd)

    def unused_scaler() -> None:
        scaler = torch.amp.GradScaler("cpu")
        scaler.scale(torch.ones(1, requires_grad=True).sum())
        scaler.step(optimizer(1))

    def updated() -> None:
        scaler = torch.amp.GradScaler("cpu")
        scaler.scale(torch.ones(1))
        scaler.update()

    def load(data: bytes) -> None:
        torch.load(io.BytesIO(data))

    def whole() -> bytes:
        file = io.BytesIO()
        torch.save(nn.Linear(2, 2), file)
        return file.getvalue()

    def late() -> None:
        class Late(nn.Module):
            def __init__(self) -> None:
                self.layer = nn.Linear(1, 1)

        Late()

    yield "state-dict-mismatch", lambda: nn.Linear(2, 3).load_state_dict({})
    yield "state-dict-mismatch", lambda: nn.Linear(2, 3).load_state_dict(nn.Linear(4, 3).state_dict())
    yield "optimizer-state-mismatch", lambda: optimizer(1, 2).load_state_dict(optimizer(1).state_dict())
    yield "optimizer-param-error", lambda: torch.optim.SGD([], lr=0.1)
    yield "optimizer-param-error", lambda: torch.optim.SGD([torch.ones(1, requires_grad=True) * 2], lr=0.1)
    yield "optimizer-param-error", two
    yield "scheduler-order", schedule
    yield "fp16-unscale", lambda: unscale(torch.float16)
    yield "amp-scaler-state", lambda: unscale(torch.float32)
    yield "amp-scaler-state", unused_scaler
    yield "amp-scaler-state", updated
    yield "amp-scaler-state", torch.cuda.amp.GradScaler
    yield "weights-only-load", lambda: load(whole())
    yield "checkpoint-corrupt", lambda: load(whole()[:200])
    yield "checkpoint-corrupt", lambda: load(b"version https://git-lfs.github.com/spec/v1\n")
    yield "parameters-not-registered", late
    yield "parameters-not-registered", lambda: nn.ModuleList([X])
    yield "parameters-not-registered", lambda: nn.Linear(2, 2).no_such_layer
    yield "pickling-error", lambda: pickle.dumps(lambda: 1)


def loading() -> Acts:
    data = TensorDataset(X)

    def workers() -> None:
        class Broken(TensorDataset):
            def __getitem__(self, index: Any) -> Any:
                raise ValueError("no such sample")

        next(iter(DataLoader(Broken(X), num_workers=1)))

    yield "dataloader-config", lambda: DataLoader(data, shuffle=True, sampler=[0])
    yield "dataloader-config", lambda: DataLoader(TensorDataset(torch.ones(0)), shuffle=True)
    yield (
        "collate-size-mismatch",
        lambda: next(iter(DataLoader([torch.ones(2), torch.ones(3)], batch_size=2))),
    )
    yield "collate-size-mismatch", lambda: next(iter(DataLoader([None, None], batch_size=2)))
    yield "dataset-exception", workers
    yield "process-group-not-initialised", torch.distributed.get_rank
    yield "driver-mismatch", lambda: torch.ones(1).cuda()
    yield (
        "wrong-gradient",
        lambda: torch.autograd.gradcheck(lambda x: x.detach() * x, torch.ones(1).double().requires_grad_()),
    )


def deterministic() -> Acts:
    def run() -> None:
        torch.use_deterministic_algorithms(True)
        try:
            torch.ones(3).put_(torch.tensor([0]), torch.ones(1), accumulate=False)
        finally:
            torch.use_deterministic_algorithms(False)

    yield "nondeterminism", run


def said(act: Callable[[], Any]) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            act()
        except Exception as error:  # noqa: BLE001 - what torch raises is what is asked for
            return f"{type(error).__module__}.{type(error).__name__}: {error}"
    return "\n".join(f"{w.category.__name__}: {w.message}" for w in caught)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for group in (shapes, dtypes, autograd, states, loading, deterministic):
        for slug, act in group():
            print(json.dumps([slug, said(act)]), flush=True)
