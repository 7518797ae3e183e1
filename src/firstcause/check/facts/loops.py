"""Plain loops: how many epochs, which optimizer with which settings, which schedule, how many micro-batches."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from firstcause.check.code import Call, Code, Loop
from firstcause.check.constants import Constant
from firstcause.check.events import around, backward_loops, events, training_loops
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import normal
from firstcause.check.facts.values import known_value, share_of, value_of
from firstcause.check.partials import whole_calls
from firstcause.check.reasons import reason
from firstcause.check.registries import chosen_calls
from firstcause.check.steps import OPTIMIZERS, reached
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SCHEDULES = {
    "CosineAnnealingLR": "cosine", "CosineAnnealingWarmRestarts": "cosine_with_restarts", "LinearLR": "linear", "StepLR": "step",
    "MultiStepLR": "step", "OneCycleLR": "onecycle", "ReduceLROnPlateau": "plateau", "ExponentialLR": "exponential",
    "ConstantLR": "constant", "PolynomialLR": "polynomial",
}  # fmt: skip
OF_TRANSFORMERS = {
    "get_linear_schedule_with_warmup": "linear",
    "get_cosine_schedule_with_warmup": "cosine",
    "get_wsd_schedule": "warmup_stable_decay",
    "get_constant_schedule_with_warmup": "constant_with_warmup",
    "get_constant_schedule": "constant",
    "get_polynomial_decay_schedule_with_warmup": "polynomial",
    "get_inverse_sqrt_schedule": "inverse_sqrt",
}
OWNERS = ("transformers", "transformers.optimization", "diffusers", "diffusers.optimization")
SETTINGS = {
    "lr": "learning_rate",
    "weight_decay": "weight_decay",
    "momentum": "momentum",
    "betas": "adam_betas",
}

_BATCHES = re.compile(r"(?:^|_)(?:micro)?(?:batch(?:es)?|loaders?|dataloaders?|dl)(?:$|_)", re.IGNORECASE)
# What an update is of several of, each with batches of its own.
_SEVERAL = re.compile(r"(?:^|_)(?:tasks?|episodes?|clients?)(?:$|_)", re.IGNORECASE)
# Libraries of a policy's surroundings.
ENVIRONMENTS = ("gymnasium", "gym")


def loop_facts(code: Code) -> Iterator[Fact]:
    """Facts of epochs, gradient_accumulation, optimizer and its settings, scheduler and warm-up."""
    yield from _optimizers(code)
    schedules = list(_schedules(code))
    yield from schedules
    if not schedules:
        yield from _unscheduled(code)
    for call in code.methods_and_calls("clip_grad_norm_"):
        if not call.name.startswith("torch."):
            # An accelerator's takes the parameters first, a sharded model's does not.
            norm = value_of(call, "max_norm", 1 if len(call.node.args) > 1 else 0)
            if norm is not None and isinstance(norm.value, (int, float)):
                how = "clip_grad_norm_(max_norm=)"
                yield Fact("max_grad_norm", norm.value, norm.site, how, "max_norm", not norm.overridable)
    for loop in training_loops(code) or backward_loops(code):
        yield from _epochs(code, loop)
        yield from _accumulation(code, loop)
        yield from _patience(code, loop)


def _patience(code: Code, loop: Loop) -> Iterator[Fact]:
    """The bound of a counter at which the loop over epochs is left: ``if waited >= patience: break``."""
    for outer in around(code, loop):
        for node in outer.nodes:
            if (
                not isinstance(node, ast.If)
                or loop.holds(node)
                or not any(isinstance(n, ast.Break) for n in node.body)
            ):
                continue
            test = node.test
            if (
                not isinstance(test, ast.Compare)
                or not isinstance(test.ops[0], (ast.GtE, ast.Eq, ast.Gt))
                or len(test.ops) != 1
            ):
                continue
            bound = known_value(code, outer.module, test.comparators[0])
            if bound is None or not _counts(outer, test.left) or not _is_whole(bound.value):
                continue
            patience = bound.value + 1 if isinstance(test.ops[0], ast.Gt) else bound.value
            yield Fact(
                "early_stopping_patience", patience, bound.site, "the counter's bound before break", "",
                not bound.overridable and not isinstance(test.ops[0], ast.Gt),
                confirms=isinstance(test.ops[0], ast.Gt),
            )  # fmt: skip


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _counts(loop: Loop, counter: ast.expr) -> bool:
    """Whether the loop adds 1 to a name, and in some branch sets it back to 0."""
    if not isinstance(counter, (ast.Name, ast.Attribute)):
        return False
    name = ast.unparse(counter)
    added = zeroed = False
    for node in loop.nodes:
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.op, ast.Add)
            and ast.unparse(node.target) == name
        ):
            added = added or (isinstance(node.value, ast.Constant) and node.value.value == 1)
        if isinstance(node, ast.Assign):
            pairs = [p for t in node.targets for p in _paired(t, node.value)]
            zeroed = zeroed or any(
                ast.unparse(t) == name and isinstance(v, ast.Constant) and v.value == 0 for t, v in pairs
            )
    return added and zeroed


def _paired(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _optimizers(code: Code) -> Iterator[Fact]:
    makers = whole_calls(code, *(f"torch.optim.{name}" for name in sorted(OPTIMIZERS)))
    makers += code.calls(
        "transformers.Adafactor", "bitsandbytes.optim.AdamW8bit", "bitsandbytes.optim.PagedAdamW8bit"
    )
    chosen = {c.call: c.site for c in chosen_calls(code, "torch.optim.") if _last(c.call) in OPTIMIZERS}
    made = {c.node for c in makers}
    for call in [*makers, *(c for c in chosen if c.node not in made)]:
        last = _last(call)
        why = reason(call.module, call.node)
        yield Fact("optimizer", normal("optimizer", last), chosen.get(call, call.site), call.name, reason=why)
        for argument, key in SETTINGS.items():
            value = value_of(call, argument, 1 if argument == "lr" else None)
            for found in [value] if value is not None else _of_groups(call, argument):
                if found.value is not None:
                    yield Fact(
                        key, found.value, found.site, f"{last}({argument}=)", argument, not found.overridable
                    )


def _last(call: Call) -> str:
    return call.name.rpartition(".")[2]


def _of_groups(call: Call, argument: str) -> Iterator[Constant]:
    """What groups of parameters say that are written out; a group that is left without decay says nothing."""
    given = call.argument("params", 0)
    groups = call.code.origins(given.module, given.node) if given is not None else []
    for group in groups:
        for entry in group.node.elts if isinstance(group.node, ast.List) else ():
            pairs = zip(entry.keys, entry.values, strict=True) if isinstance(entry, ast.Dict) else ()
            for key, node in pairs:
                found = (
                    known_value(call.code, group.module, node)
                    if isinstance(key, ast.Constant) and key.value == argument
                    else None
                )
                if found is not None and found.value:
                    yield found


def _schedules(code: Code) -> Iterator[Fact]:
    for name, plain in SCHEDULES.items():
        for call in whole_calls(code, f"torch.optim.lr_scheduler.{name}"):
            yield Fact("scheduler", plain, call.site, name, reason=reason(call.module, call.node))
    for name, plain in OF_TRANSFORMERS.items():
        for call in code.calls(*(f"{owner}.{name}" for owner in OWNERS)):
            yield Fact("scheduler", plain, call.site, name, reason=reason(call.module, call.node))
            yield from _warmup(call, 1)
            yield from _total(call, 2)
    for call in code.calls(*(f"{owner}.get_scheduler" for owner in OWNERS)):
        kind = call.constant("name", 0)
        if kind is not None:
            yield Fact("scheduler", str(kind.value), kind.site, "get_scheduler")
        yield from _warmup(call, 2)


def _unscheduled(code: Code) -> Iterator[Fact]:
    """A rate that nothing changes, where a constant one was asked for."""
    asked = any(i.value == "constant" for i in code.asked("scheduler"))
    if asked and backward_loops(code) and "lr_scheduler" not in "".join(m.text for m in code.modules):
        for call in [c for name in sorted(OPTIMIZERS) for c in code.calls(f"torch.optim.{name}")][:1]:
            yield Fact("scheduler", "constant", call.site, "no schedule", explicit=False, confirms=True)


def _warmup(call: Call, position: int) -> Iterator[Fact]:
    """A number of steps, or a share where the steps are computed by a factor: ``int(0.1 * total)``."""
    value = call.argument("num_warmup_steps", position)
    if value is None:
        return
    each = _of_each_process(value.node)
    steps = (
        known_value(call.code, value.module, each)
        if each is not None
        else call.constant("num_warmup_steps", position)
    )
    if steps is not None:
        yield Fact("warmup_steps", steps.value, steps.site, "num_warmup_steps=", "num_warmup_steps")
        return
    share = share_of(call.code, value)
    if share is not None:
        yield Fact("warmup_ratio", share.value, share.site, "a share of the steps", "num_warmup_steps")


def _total(call: Call, position: int) -> Iterator[Fact]:
    """The updates that a schedule is made for, where so many were asked for: they only confirm."""
    steps = value_of(call, "num_training_steps", position) if call.code.asked("max_steps") else None
    if steps is not None and type(steps.value) is int:
        how = "num_training_steps="
        yield Fact("max_steps", steps.value, steps.site, how, "num_training_steps", sure=False, confirms=True)


def _of_each_process(node: ast.AST) -> ast.expr | None:
    """The 500 of ``500 * accelerator.num_processes``: a schedule that accelerate has prepared is stepped by each of them."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if isinstance(one, ast.Attribute) and one.attr == "num_processes":
            return other
    return None


def _epochs(code: Code, loop: Loop) -> Iterator[Fact]:
    """The bound of the outermost counted loop around a training loop."""
    counted = [f for outer in around(code, loop) if (f := _range(code, outer)) is not None]
    if counted and any(code.imports(name) for name in ENVIRONMENTS):
        # What is outermost collects: an epoch goes over what was collected.
        episodes = (
            len(counted) == 1 and "epoch" not in ast.unparse(getattr(loop.node, "target", loop.node))[:40]
        )
        yield replace(counted[0], confirms=True) if episodes else counted[0]
    elif counted:
        yield counted[-1]
    elif "epoch" in ast.unparse(getattr(loop.node, "target", loop.node))[:40]:
        # All of the data at once, as with one graph: the loop of the steps is that of the epochs.
        own = _range(code, loop)
        if own is not None:
            yield own


def _range(code: Code, loop: Loop) -> Fact | None:
    node = loop.node
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
        return None
    call = node.iter
    if (
        getattr(call.func, "id", "") in ("tqdm", "trange")
        and call.args
        and isinstance(call.args[0], ast.Call)
    ):
        call = call.args[0]
    if getattr(call.func, "id", "") not in ("range", "trange") or not 1 <= len(call.args) <= 2:
        return None
    last = code.constant(loop.module, call.args[-1])
    first = code.constant(loop.module, call.args[0]) if len(call.args) == 2 else None
    if last is None or not isinstance(last.value, int):
        return None
    count = last.value - (first.value if first is not None and isinstance(first.value, int) else 0)
    return Fact("epochs", count, last.site, "range of the loop", "", not last.overridable)


def _accumulation(code: Code, loop: Loop) -> Iterator[Fact]:
    for module, node in reached(code, loop):
        if isinstance(node, (ast.For, ast.While)) and node is not loop.node and _only_adds(node):
            taken = _taken_of_iterator(code, module, node)
            if taken is not None:
                how = "the batches that the loop takes"
                # Of other things than batches, as of tasks, each may be one of several that an update is of.
                only = not _takes_batches(code, module, node) or not _steps_behind(module, node)
                sure = not only and not taken.overridable
                yield Fact("gradient_accumulation", taken.value, taken.site, how, "", sure, confirms=only)
                return
            how = "a loop of backwards before the step"
            yield Fact("gradient_accumulation", None, module.site(node), how, "", False, False, confirms=True)
            return
    step = next((e for e in events(code, loop) if e.kind in ("step", "scaler-step") and e.guarded), None)
    if step is None or step.call.module is not loop.module:
        return
    for parent in loop.module.ancestors(step.call.node):
        if not isinstance(parent, ast.If) or not loop.holds(parent):
            continue
        if _goes_back(parent) and any(code.imports(name) for name in ENVIRONMENTS):
            # "One update every 4 steps" of the environment: what is counted was played, and nothing adds up.
            continue
        for node in _tested(code, loop, parent.test):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
                every = code.constant(loop.module, node.right)
                if every is not None and isinstance(every.value, int) and every.value > 1:
                    yield Fact(
                        "gradient_accumulation",
                        every.value,
                        every.site,
                        "the step's test",
                        "",
                        not every.overridable,
                    )


def _taken_of_iterator(code: Code, module: Module, loop: ast.For | ast.While) -> Constant | None:
    """How many a loop takes from an iterator at a time, where the code says it: ``for batch in islice(batches, 8)``."""
    call = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(call, ast.Call) or last_name(call.func) != "islice" or len(call.args) != 2:
        return None
    found = known_value(code, module, call.args[1])
    return found if found is not None and type(found.value) is int and found.value > 1 else None


def _takes_batches(code: Code, module: Module, loop: ast.For | ast.While) -> bool:
    """Whether what a loop takes from is called batches or a loader, or is a loader."""
    given = loop.iter.args[0] if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) else None
    if given is None:
        return False
    made = [o.node for o in code.origins(module, given) if isinstance(o.node, ast.Call)]
    names = [last_name(n) for one in (given, *made) for n in ast.walk(one)]
    if any(_SEVERAL.search(name) for name in names):
        return False
    return any(_BATCHES.search(name) for name in names) or "DataLoader" in names


def _steps_behind(module: Module, loop: ast.For | ast.While) -> bool:
    """Whether a step stands behind a loop in its function."""
    around = module.function(loop) or module.tree
    return any(
        isinstance(n, ast.Call) and last_name(n.func) == "step" and n.lineno > (loop.end_lineno or 0)
        for n in ast.walk(around)
    )


def _only_adds(loop: ast.For | ast.While) -> bool:
    """Whether a loop within the training loop goes backward and leaves the optimizer alone."""
    called = {
        c.func.attr for c in ast.walk(loop) if isinstance(c, ast.Call) and isinstance(c.func, ast.Attribute)
    }
    return "backward" in called and not called & {"step", "zero_grad"}


def _goes_back(branch: ast.If) -> bool:
    """Whether a branch holds the whole update, the backward too."""
    return any(
        isinstance(n, ast.Attribute) and n.attr == "backward" for s in branch.body for n in ast.walk(s)
    )


def _tested(code: Code, loop: Loop, test: ast.expr) -> Iterator[ast.AST]:
    """What a test asks, the names that hold a part of it followed."""
    for node in ast.walk(test):
        yield node
        if isinstance(node, ast.Name):
            for origin in code.origins(loop.module, node):
                if origin.module is loop.module and isinstance(origin.node, ast.Compare):
                    yield from ast.walk(origin.node)
