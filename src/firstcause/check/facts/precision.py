"""The precision of a training: flags of arguments, autocast, the dtype of weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from firstcause.check.code import Call, Code
from firstcause.check.constants import Constant, Named
from firstcause.check.facts.engines import accelerate_configurations
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.table import families
from firstcause.check.partials import whole_calls
from firstcause.check.reasons import reason
from firstcause.check.steps import OPTIMIZERS
from firstcause.source.module import Module

FLAGS = ("bf16", "fp16")
# What casts by itself, and what names another type than 32 bits.
DRIVERS = (
    "accelerate",
    "lightning",
    "pytorch_lightning",
    "transformers",
    "trl",
    "deepspeed",
    "apex",
    "fairscale",
    "ignite",
)
OTHER_TYPES = (
    "half",
    "float16",
    "fp16",
    "bf16",
    "autocast",
    "scaler",
    "default_dtype",
    "float64",
    "double",
    "precision",
)
_WIDE = frozenset({"double", "float64"})
CUDA = "torch.cuda.amp.autocast"
# The weights' own dtype counts where nothing else says it: adapters and inference.
# The type in which the layers that are kept in 4 bits compute.
COMPUTE = "bnb_4bit_compute_dtype"
WEIGHTS = ("dtype", "torch_dtype", COMPUTE)
# A sharded model's own autocast: the weights stay as they are, and are computed with in another type.
SHARDED = ("torch.distributed.fsdp.MixedPrecisionPolicy", "torch.distributed.fsdp.MixedPrecision")


def precision_facts(code: Code) -> Iterator[Fact]:
    """Facts of the key precision, the surest kind first."""
    found = [*_flags(code), *_autocast(code), *_sharded(code)]
    yield from found or _weights(code, WEIGHTS)
    if found:
        yield from _weights(code, (COMPUTE,))
    elif any(i.value == "fp32" and i.polarity == "require" for i in code.asked("precision")):
        yield from _of_plain_loop(code)


def _of_plain_loop(code: Code) -> Iterator[Fact]:
    """That a loop of the program's own computes in 32 bits, where nothing in it speaks of another type."""
    if any(code.imports(library) for library in DRIVERS):
        return
    made = [c for n in sorted(OPTIMIZERS) for c in code.calls(f"torch.optim.{n}")]
    names = _names(code)
    if made and "amp" not in names and not any(word in name for name in names for word in OTHER_TYPES):
        yield Fact(
            "precision", "fp32", made[0].site, "a loop without another type", sure=False, confirms=True
        )


def _names(code: Code) -> set[str]:
    """The names of attributes, functions and arguments, in lower case, and texts that could name a type."""
    return {
        str(name).lower()
        for module in code.modules
        for node in module.nodes(ast.Name, ast.Attribute, ast.keyword, ast.Constant)
        for name in (getattr(node, f, None) for f in ("id", "attr", "arg", "value"))
        if isinstance(name, str) and " " not in name and not (name in _WIDE and _only_measures(module, node))
    }


def _only_measures(module: Module, node: ast.AST) -> bool:
    """Whether a type stands in a function that computes no gradients: a metric may be summed up in 64 bits."""
    function = module.function(node)
    marks = function.decorator_list if isinstance(function, ast.FunctionDef) else []
    return any("no_grad" in ast.unparse(m) or "inference_mode" in ast.unparse(m) for m in marks)


def _flags(code: Code) -> Iterator[Fact]:
    for family in families():
        if family.name not in ("training arguments", "trl configuration"):
            continue
        for call in whole_calls(code, *family.calls):
            for flag in FLAGS:
                value = call.argument(flag)
                known = call.constant(flag)
                if value is None or (known is not None and known.value is False):
                    continue
                # A test of the hardware such as torch.cuda.is_bf16_supported() still asks for it.
                site = known.site if known is not None else call.module.site(value.node)
                yield Fact(
                    "precision", flag, site, f"{call.name.rpartition('.')[2]}({flag}=)", flag, known is not None, True,
                    reason(call.module, value.node),
                )  # fmt: skip


def _autocast(code: Code) -> Iterator[Fact]:
    for call in whole_calls(code, "torch.autocast", "torch.amp.autocast", CUDA):
        dtype = call.constant("dtype", None if call.name == CUDA else 1)
        if dtype is not None and isinstance(dtype.value, Named):
            yield _fact(call, dtype, "dtype")
        elif not call.may_have("dtype") and (call.name == CUDA or len(call.node.args) < 2):
            yield Fact(
                "precision", "fp16", call.site, "autocast", "dtype", reason=reason(call.module, call.node)
            )


def _sharded(code: Code) -> Iterator[Fact]:
    for call in code.calls(*SHARDED):
        dtype = call.constant("param_dtype", 0)
        if dtype is not None and isinstance(dtype.value, Named):
            yield _fact(call, dtype, "param_dtype")


def _weights(code: Code, arguments: Sequence[str]) -> Iterator[Fact]:
    for argument in arguments:
        pipelines = code.calls("transformers.pipeline", "transformers.pipelines.pipeline")
        for call in (
            *code.methods_and_calls("from_pretrained", "from_config", "BitsAndBytesConfig"),
            *pipelines,
        ):
            dtype = call.constant(argument)
            if dtype is not None and dtype.value != "auto" and isinstance(dtype.value, (Named, str)):
                found = _fact(call, dtype, argument)
                # Weights that an Accelerator computes with in another type are kept whole.
                if found.value != "fp32" or not _accelerated(code):
                    yield found
    for call in code.methods("to", "half", "bfloat16") if arguments == WEIGHTS else ():
        named = [
            a
            for a in call.node.args
            if isinstance(a, ast.Attribute) and a.attr in ("float16", "bfloat16", "half")
        ]
        if named:
            site = call.module.site(named[0])
            yield Fact("precision", normal("precision", named[0].attr), site, "to(dtype)", "dtype")


def _accelerated(code: Code) -> bool:
    """Whether an Accelerator, or its file, says in which type is computed."""
    calls = code.calls("accelerate.Accelerator")
    said = any(c.may_have("mixed_precision") for c in calls)
    return bool(calls) and (
        said or any(one.entry("mixed_precision") for one in accelerate_configurations(code))
    )


def _fact(call: Call, dtype: Constant, argument: str) -> Fact:
    value = call.argument(argument)
    why = reason(call.module, value.node if value is not None else call.node)
    how = f"{call.name.rpartition('.')[2].lstrip('.')}({argument}=)"
    return Fact("precision", normal("precision", dtype.value), dtype.site, how, argument, reason=why)
