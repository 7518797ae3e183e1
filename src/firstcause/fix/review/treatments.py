"""The usual treatments of a training, as a patch shows them, and the causes that each can be a fix for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.fix.review.sides import Change, changed_numbers, name_of

# The names under which a setting is written, by the kind of treatment.
_SETTINGS = {
    "the learning rate": ("lr", "learning_rate", "base_lr", "max_lr", "peak_lr", "init_lr"),
    "the optimizer's settings": ("momentum", "betas", "weight_decay", "nesterov", "amsgrad"),
    "the batch size": ("batch_size", "batch", "bs", "batchsize", "micro_batch"),
    "the length of the training": (
        "epochs",
        "num_epochs",
        "n_epochs",
        "max_epochs",
        "steps",
        "num_steps",
        "max_steps",
    ),
    "dropout": ("dropout", "p_drop", "drop", "dropout_p"),
    "the size of the model": (
        *("hidden", "width", "d_model", "hidden_size", "hidden_dim", "channels", "layers", "num_layers"),
    ),
    "the loader's workers": ("num_workers", "pin_memory", "persistent_workers", "prefetch_factor", "timeout"),
    "the seed": ("seed",),
    "the weights of the loss": (
        "alpha",
        "gamma",
        "margin",
        "temperature",
        "label_smoothing",
        "pos_weight",
        "beta",
    ),
    "the clipping of gradients": (
        "max_norm",
        "clip_value",
        "grad_clip",
        "clip_grad",
        "clip_norm",
        "max_grad_norm",
    ),
}
# The calls by which a treatment is added.
_CALLS = {
    "the clipping of gradients": ("clip_grad_norm_", "clip_grad_value_"),
    "initialisation": (
        *(
            "xavier_uniform_",
            "xavier_normal_",
            "kaiming_uniform_",
            "kaiming_normal_",
            "orthogonal_",
            "trunc_normal_",
        ),
    ),
    "normalisation": (
        "BatchNorm1d",
        "BatchNorm2d",
        "BatchNorm3d",
        "LayerNorm",
        "GroupNorm",
        "InstanceNorm2d",
    ),
    "the training mode": ("train", "eval"),
    "zero_grad": ("zero_grad",),
    "the cut of gradients": ("no_grad", "inference_mode", "detach", "detach_"),
    "precision": ("double", "half", "bfloat16", "autocast"),
    "the seed": ("manual_seed", "manual_seed_all", "use_deterministic_algorithms"),
    "the clamp of values": ("clamp", "clamp_", "clamp_min", "clamp_max", "clip"),
    "dropout": ("Dropout", "Dropout1d", "Dropout2d"),
}
_DTYPES = ("float16", "half", "bfloat16", "float32", "float64", "double")
_BACKENDS = ("nccl", "gloo", "mpi", "ucc")
# The keywords of calls by which one is added.
_KEYWORDS = {
    "the optimizer's settings": _SETTINGS["the optimizer's settings"],
    "the loader's workers": ("pin_memory", "persistent_workers", "num_workers"),
    "the search for unused parameters": ("find_unused_parameters",),
    "the weights of the loss": ("label_smoothing", "pos_weight"),
}
_OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam", "Adamax", "Adadelta")
_FLOW = (
    "exploding-gradient",
    "vanishing-gradient",
    "bad-initialisation",
    "dead-relu-init",
    "saturated-activation",
)
_NONFINITE = (
    *(
        "log-of-zero",
        "sqrt-backward-at-zero",
        "acos-gradient-at-domain-edge",
        "division-by-zero",
        "exp-overflow",
    ),
    *("outlier-in-data", "fp16-overflow", "std-of-single-element", "fully-masked-attention-row"),
)
# Causes for which a treatment can be the fix, or a part of it.
TREATS: dict[str, tuple[str, ...]] = {
    "the learning rate": (
        "learning-rate-too-high",
        "wrong-reduction",
        "scheduler-per-batch",
        "accumulation-not-divided",
    ),
    "the optimizer's settings": ("learning-rate-too-high", "loss-term-dominates"),
    "the optimizer": ("learning-rate-too-high",),
    "the batch size": ("batchnorm-small-batch", "activation-peak", "foreign-process-memory"),
    "the length of the training": ("scheduler-per-batch",),
    "dropout": ("dropout-active-at-eval",),
    "the size of the model": (
        *(
            "conv-channel-mismatch",
            "flatten-linear-mismatch",
            "embedding-index-out-of-range",
            "residual-shape-mismatch",
        ),
        *("target-out-of-range", "codebook-collapse"),
    ),
    "the loader's workers": (
        *(
            "worker-killed",
            "duplicated-worker-seed",
            "file-handle-shared-by-forked-workers",
            "cuda-in-forked-worker",
        ),
        *("data-bound-getitem", "unpicklable-object-in-dataset"),
    ),
    "the seed": (
        "seed-incomplete",
        "duplicated-worker-seed",
        "rng-state-not-restored",
        "rank-specific-initial-weights",
    ),
    "the clipping of gradients": (
        "exploding-gradient",
        "clip-before-unscale",
        "outlier-in-data",
        "learning-rate-too-high",
    ),
    "initialisation": (*_FLOW, "codebook-collapse"),
    "normalisation": (*_FLOW, "batchnorm-small-batch", "outlier-in-data"),
    "the training mode": ("eval-mode-in-training", "dropout-active-at-eval", "batchnorm-small-batch"),
    "zero_grad": (
        "missing-zero-grad",
        "zero-grad-before-step",
        "accumulation-not-divided",
        "optimizer-step-before-backward",
    ),
    "the cut of gradients": (
        *(
            "loss-history-keeps-graph",
            "no-grad-missing-at-eval",
            "recurrent-state-keeps-graph",
            "unbounded-cache",
        ),
        *(
            "graph-reused-across-iterations",
            "inplace-modified-saved-tensor",
            "optimizer-step-before-backward",
        ),
        *(
            "exception-keeps-frames-alive",
            "forward-hooks-never-removed",
            "grad-mode-left-disabled",
            "codebook-collapse",
        ),
        *(
            "cached-intermediate-in-checkpointed-block",
            "target-leakage",
            "inplace-data-mutation",
            "frozen-by-mistake",
        ),
        *("uneven-batches-per-rank", "rank-dependent-collective", "activation-peak"),
    ),
    "precision": (
        *("dtype-double-vs-float", "dtype-wrong-for-op", "fp16-overflow", "bf16-rounding", "scaler-missing"),
        *(
            "log-of-zero",
            "exp-overflow",
            "inplace-data-mutation",
            "python-loop-over-elements",
            "silent-broadcast",
        ),
        *(
            "sync-every-step",
            "division-by-zero",
            "ragged-samples-in-default-collate",
            "loss-history-keeps-graph",
        ),
    ),
    "the weights of the loss": (
        "loss-term-dominates",
        "codebook-collapse",
        "wrong-sign-loss",
        "wrong-reduction",
    ),
    "the scale of the data": (
        *(
            "outlier-in-data",
            "exp-overflow",
            "saturated-activation",
            "vanishing-gradient",
            "exploding-gradient",
        ),
        *("inplace-data-mutation", "learning-rate-too-high", "fp16-overflow", "loss-term-dominates"),
        *("std-of-single-element", "division-by-zero", "batchnorm-small-batch", "nan-in-data"),
    ),
    "the backend of the ranks": ("device-mismatch",),
    "the search for unused parameters": ("ddp-unused-parameters",),
    "the clamp of values": (
        *_NONFINITE,
        "nan-in-data",
        "all-targets-ignored",
        "padding-in-loss",
        "bf16-rounding",
    ),
}


def treatments(change: Change) -> Iterator[tuple[str, int]]:
    """The kinds of treatment in a file's change, each with its line in the new text."""
    for name, _, _, node in changed_numbers(change):
        for kind, names in _SETTINGS.items():
            if name.lower() in names:
                yield kind, node.lineno
    yield from _calls(change)
    for keyword in change.added(ast.keyword):
        for kind, names in _KEYWORDS.items():
            if keyword.arg in names:
                yield kind, keyword.value.lineno
    yield from _exchanged(change)
    if not any(isinstance(q.op, ast.Div) and _centred(q.left) for q in change.removed(ast.BinOp)):
        for quotient in change.added(ast.BinOp):
            if isinstance(quotient.op, ast.Div) and _centred(quotient.left):
                yield "the scale of the data", quotient.lineno


def _calls(change: Change) -> Iterator[tuple[str, int]]:
    gone = {name_of(call) for call in change.removed(ast.Call)}
    for call in change.added(ast.Call):
        name = name_of(call)
        for kind, names in _CALLS.items():
            # Another number for the generator is as much a treatment as a call that was not there.
            if name in names and (name not in gone or kind == "the seed"):
                yield kind, call.lineno
        others = gone & set(_OPTIMIZERS)
        if name in _OPTIMIZERS and others and name not in others:
            yield "the optimizer", call.lineno


def _exchanged(change: Change) -> Iterator[tuple[str, int]]:
    """One dtype or one backend in place of another."""
    if any(node.attr in _DTYPES for node in change.removed(ast.Attribute)):
        for attribute in change.added(ast.Attribute):
            if attribute.attr in _DTYPES:
                yield "precision", attribute.lineno
    if any(node.value in _BACKENDS for node in change.removed(ast.Constant)):
        for constant in change.added(ast.Constant):
            if constant.value in _BACKENDS:
                yield "the backend of the ranks", constant.lineno


def _centred(node: ast.expr) -> bool:
    """Whether a mean is taken off a value."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and name_of(node.right) in ("mean", "min")
    )


def explained(change: Change) -> bool:
    """Whether each changed stretch of the new text holds a treatment, so that nothing else is in the patch."""
    lines = {line for _, line in treatments(change)}
    return bool(lines) and all(
        any(first <= line <= last for line in lines) for first, last in change.new_spans
    )
