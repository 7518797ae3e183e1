"""Library calls that pass a value on, and those that make a container whose parts are known."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from firstcause.source.arguments import argument
from firstcause.source.classes import method
from firstcause.source.configs import hydra, parsed, reading
from firstcause.source.frames import Frame, Value
from firstcause.source.functions import enter
from firstcause.source.options import CONFIG_READERS, PARSERS, from_parser
from firstcause.source.steps import EACH, Path, Step, constant_key
from firstcause.source.tensors import DATA, tensor_call
from firstcause.source.torch_modules import CONTAINERS, container_child
from firstcause.source.walk import Chain, Hop, Origin, Result, Walk

Handler = Callable[[Walk, Value, ast.Call, Chain], Result]

# Calls whose result is their first argument, or iterates as it does.
SAME = {
    "builtins.int", "builtins.float", "builtins.list", "builtins.tuple", "builtins.iter",
    "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.asyncio.tqdm", "tqdm.rich.tqdm", "rich.progress.track",
    "itertools.islice", "itertools.cycle", "copy.copy", "copy.deepcopy", "torch.compile", "torch.nn.DataParallel",
    "torch.nn.parallel.DistributedDataParallel", "torch.jit.script", "operator.index", "typing.cast",
    "hydra.utils.to_absolute_path",
}  # fmt: skip
# What makes a mapping of an object's fields.
AS_MAPPING = {"dataclasses.asdict", "attr.asdict", "attrs.asdict"}
NUMBERS = {"builtins.int", "builtins.float"}
REORDERED = {"builtins.set", "builtins.sorted", "builtins.reversed", "random.sample"}
# Methods whose result stands for the same number or object.
SAME_METHODS = {
    ".to", ".cuda", ".cpu", ".eval", ".train", ".item", ".copy", ".requires_grad_", ".half", ".bfloat16", ".double",
    ".float", ".share_memory",
}  # fmt: skip
# Defaults that a command line may override.
TYPER = {"typer.Option", "typer.Argument", "typer.params.Option"}
RECORDS = {
    "builtins.dict", "types.SimpleNamespace", "argparse.Namespace", "collections.OrderedDict", "easydict.EasyDict",
    "ml_collections.ConfigDict", "addict.Dict", "munch.Munch", "box.Box",
}  # fmt: skip


def library(walk: Walk, value: Value, name: str, chain: Chain) -> Result:
    """Follow a call of a library's function; None where it computes something of its own."""
    node = value.node
    assert isinstance(node, ast.Call)
    handler = HANDLERS.get(name)
    if handler is not None:
        return handler(walk, value, node, chain)
    if name in AS_MAPPING and node.args:
        first = value.path[0] if value.path else None
        if first is None or first.kind != "item" or not isinstance(first.key, str):
            return None
        return walk.trace(value.at(node.args[0], (Step("attr", first.key), *value.path[1:])), chain)
    if name in CONTAINERS:
        return container_child(walk, value, node, chain)
    if name in RECORDS:
        return _record(walk, value, node, chain)
    if name.rpartition(".")[2] in PARSERS:
        return from_parser(walk, value, node, chain)
    if name in parsed.METHODS or name in parsed.FUNCTIONS:
        return parsed.from_dataclasses(walk, value, name, node, chain)
    if name == "hydra.compose":
        found = hydra.from_compose(walk, value, node, chain)
        if found is not None:
            return found
    if name in TYPER and (node.args or node.keywords):
        default = argument(node, 0, "default")
        return (
            None if default is None else _overridable(walk.trace(value.at(default.node, value.path), chain))
        )
    if name in reading.READERS:
        config = reading.file_read(walk, value, name)
        if config is not None:
            return reading.into(walk, config, value, chain)
    if name in reading.MERGING:
        return reading.merged(walk, value, node, chain)
    if name in reading.SAME and node.args:
        return walk.trace(value.at(node.args[0], value.path), chain)
    if name in CONFIG_READERS:
        return [Origin("config", value.module, node, chain, exact=not value.path, value=value)]
    if walk.data and (name in DATA or name.startswith((".", "torch.", "numpy."))):
        found = tensor_call(walk, value, node, name, chain)
        if found is not None:
            return found
    if name in SAME and node.args:
        hops = (*chain, Hop(value.module, node)) if name in NUMBERS else chain
        return walk.trace(value.at(node.args[0], value.path), hops)
    if name == "builtins.set" and not value.path:
        # Its elements are those of its argument, its length is not.
        return None
    if name in REORDERED and node.args:
        path = (EACH, *value.path[1:]) if value.path and value.path[0].kind == "item" else value.path
        return walk.trace(value.at(node.args[0], path), chain)
    if name in SAME_METHODS and isinstance(node.func, ast.Attribute):
        return walk.trace(value.at(node.func.value, value.path), chain)
    return None


def _overridable(result: Result) -> Result:
    return None if result is None else [replace(o, kind="config") for o in result]


def _length(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    if value.path or len(node.args) != 1:
        return None
    found: list[Origin] = []
    for instance in walk.instances(value.at(node.args[0])):
        target = method(walk.project, instance.module, instance.cls, "__len__")
        if target is not None and not isinstance(target.node, ast.ClassDef):
            found += enter(walk, target.module, Frame(target.node, None, instance, 1), (), chain) or []
    return found or walk.stop("operation", value, chain)


def _zip(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    path = value.path
    if len(path) < 2 or path[0].kind not in ("iter", "item") or not isinstance(path[1].key, int):
        return None
    given = argument(node, path[1].key, None)
    return (
        walk.trace(value.at(given.node, (*given.path, EACH, *path[2:])), chain) if given is not None else None
    )


def _enumerate(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    path = value.path
    if len(path) < 2 or path[0].kind != "iter" or not node.args:
        return None
    if path[1].key == 0:
        return [Origin("operation", value.module, node, chain, exact=False)]
    return walk.trace(value.at(node.args[0], (EACH, *path[2:])), chain)


def _range(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    if value.path == (EACH,):
        return [Origin("operation", value.module, node, chain, exact=False)]
    return None


def _next(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    return walk.trace(value.at(node.args[0], (EACH, *value.path)), chain) if node.args else None


def _getattr(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    name = constant_key(node.args[1]) if len(node.args) > 1 else None
    if not isinstance(name, str):
        return None
    found = walk.trace(value.at(node.args[0], (Step("attr", name), *value.path)), chain)
    if found is None and len(node.args) > 2:
        return walk.trace(value.at(node.args[2], value.path), chain)
    return found


def _as_attributes(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    """``vars(x)["k"]`` and ``asdict(x)["k"]`` are ``x.k``."""
    if not node.args or not value.path or value.path[0].kind != "item":
        return None
    return walk.trace(value.at(node.args[0], (value.path[0]._replace(kind="attr"), *value.path[1:])), chain)


def _dumped(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    """``x.model_dump()["k"]`` of pydantic, ``x._asdict()["k"]`` of a named tuple are ``x.k``."""
    if not isinstance(node.func, ast.Attribute) or not value.path or value.path[0].kind != "item":
        return None
    first = value.path[0]._replace(kind="attr")
    return walk.trace(value.at(node.func.value, (first, *value.path[1:])), chain)


def _replace(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    if not node.args:
        return None
    key = value.path[0].key if value.path else None
    given = argument(node, None, key) if isinstance(key, str) else None
    if given is not None:
        return walk.trace(value.at(given.node, value.path[1:]), chain)
    return walk.trace(value.at(node.args[0], value.path), chain)


def _record(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    """A mapping or namespace made from keywords, or from another mapping."""
    if not value.path:
        return walk.stop("call", value, chain)
    step, rest = value.path[0], value.path[1:]
    given = argument(node, None, step.key) if isinstance(step.key, str) else None
    if given is not None and given.sure:
        return walk.trace(value.at(given.node, rest), chain)
    as_item: Path = (Step("item", step.key) if step.kind == "attr" else step, *rest)
    for source in (*node.args, *(k.value for k in node.keywords if k.arg is None)):
        found = walk.trace(value.at(source, as_item), chain)
        if found is not None:
            return found
    return None


def _divmod(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    """Both parts of ``steps, left = divmod(a, b)``: ``a // b`` and ``a % b``."""
    part = value.path[0].key if value.path and value.path[0].kind == "item" else None
    if len(node.args) != 2 or part not in (0, 1):
        return None
    operator = ast.FloorDiv() if part == 0 else ast.Mod()
    made = ast.copy_location(ast.BinOp(node.args[0], operator, node.args[1]), node)
    return walk.trace(value.at(made, value.path[1:]), chain)


def _get(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    """``mapping.get(key, default)``, ``pop``, ``setdefault``."""
    if not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    key = constant_key(node.args[0])
    found = walk.trace(value.at(node.func.value, (Step("item", key), *value.path)), chain)
    if len(node.args) > 1 and (found is None or key is None):
        instead = walk.trace(value.at(node.args[1], value.path), chain)
        return [*(found or []), *(instead or [])] if found or instead else None
    return found


def _items(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    path = value.path
    if (
        len(path) < 2
        or path[0].kind != "iter"
        or path[1].key != 1
        or not isinstance(node.func, ast.Attribute)
    ):
        return None
    return walk.trace(value.at(node.func.value, (Step("item"), *path[2:])), chain)


def _values(walk: Walk, value: Value, node: ast.Call, chain: Chain) -> Result:
    if not value.path or value.path[0].kind != "iter" or not isinstance(node.func, ast.Attribute):
        return None
    return walk.trace(value.at(node.func.value, (Step("item"), *value.path[1:])), chain)


HANDLERS: dict[str, Handler] = {
    "builtins.len": _length,
    "builtins.divmod": _divmod,
    "builtins.zip": _zip,
    "builtins.enumerate": _enumerate,
    "builtins.range": _range,
    "builtins.next": _next,
    "builtins.getattr": _getattr,
    "builtins.vars": _as_attributes,
    "dataclasses.asdict": _as_attributes,
    "dataclasses.replace": _replace,
    ".get": _get,
    ".pop": _get,
    ".setdefault": _get,
    ".items": _items,
    ".model_dump": _dumped,
    "._asdict": _dumped,
    ".values": _values,
}
