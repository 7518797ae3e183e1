"""Calls that hand a tensor's numbers on unchanged: conversions, reshapes, indexing, datasets and loaders."""

from __future__ import annotations

import ast

from firstcause.source.arguments import argument
from firstcause.source.frames import Frame, Value
from firstcause.source.functions import enter
from firstcause.source.steps import EACH
from firstcause.source.walk import Chain, Hop, Origin, Result, Walk

CONVERSIONS = {
    "tensor", "as_tensor", "from_numpy", "asarray", "array", "ascontiguousarray", "FloatTensor", "LongTensor",
    "Tensor", "float32", "float64", "int64", "squeeze", "unsqueeze", "flatten", "reshape", "ravel", "expand_dims",
    "atleast_2d", "transpose", "permute", "clone", "detach",
}  # fmt: skip
JOINS = {"stack", "cat", "concatenate", "concat", "vstack", "hstack", "column_stack", "pad_sequence"}
METHODS = {
    "to", "float", "long", "int", "double", "half", "bfloat16", "cuda", "cpu", "numpy", "astype", "type", "view",
    "reshape", "flatten", "ravel", "squeeze", "unsqueeze", "clone", "detach", "contiguous", "permute", "transpose", "t",
    "copy", "pin_memory", "tolist", "item", "to_numpy", "expand", "index_select", "gather", "values", "requires_grad_",
    "share_memory_", "numpy_", "type_as", "split", "chunk",
}  # fmt: skip
DATASETS = {"TensorDataset", "DataLoader", "Subset", "random_split", "ConcatDataset"}
DATA = {"torch.nn.utils.rnn.pad_sequence"}


def tensor_call(walk: Walk, value: Value, node: ast.Call, name: str, chain: Chain) -> Result:
    """Follow a call that leaves the numbers as they are; None for any other."""
    last = name.rpartition(".")[2]
    if name.startswith("."):
        if last not in METHODS or not isinstance(node.func, ast.Attribute):
            return None
        path = value.path[1:] if last in ("split", "chunk") and value.path else value.path
        return _passing(walk, value.at(node.func.value, path), node, chain)
    if last in DATASETS:
        return _dataset(walk, value, node, last, chain)
    if last in CONVERSIONS and node.args:
        return _passing(walk, value.at(node.args[0], value.path), node, chain)
    if last in JOINS and node.args:
        first = value.at(node.args[0], value.path or (EACH,))
        found = _passing(walk, first, node, chain)
        return found if found is not None else _passing(walk, value.at(node.args[0]), node, chain)
    return None


def _passing(walk: Walk, source: Value, node: ast.Call, chain: Chain) -> Result:
    hop = (*chain, Hop(source.module, node))
    found = walk.trace(source, hop)
    if found is None and source.path:
        # One element of what is converted: the whole is where its numbers come from.
        found = walk.trace(source.at(source.node), hop)
    return found


def _dataset(walk: Walk, value: Value, node: ast.Call, name: str, chain: Chain) -> Result:
    path, first = value.path, argument(node, 0, "dataset")
    if not path or first is None:
        return None
    hop = (*chain, Hop(value.module, node))
    if name == "DataLoader":
        collate = next((k.value for k in node.keywords if k.arg == "collate_fn"), None)
        if collate is not None:
            return _collated(walk, value, first.node, collate, hop)
        return walk.trace(value.at(first.node, (EACH, *path[1:])), hop)
    if name == "TensorDataset":
        if len(path) < 2 or not isinstance(path[1].key, int):
            return None
        given = argument(node, path[1].key, None)
        return walk.trace(value.at(given.node, (*given.path, *path[2:])), hop) if given is not None else None
    if name == "random_split":
        return walk.trace(value.at(first.node, path[1:]), hop)
    if name == "ConcatDataset":
        return walk.trace(value.at(first.node, (EACH, *path)), hop)
    return walk.trace(value.at(first.node, path), hop)


def _collated(walk: Walk, value: Value, dataset: ast.expr, collate: ast.expr, chain: Chain) -> Result:
    """A batch as the user's collate function puts it together from samples."""
    asked = ast.Call(collate, [dataset], [], lineno=collate.lineno, col_offset=collate.col_offset)
    found: list[Origin] = []
    for origin in walk.callables(value.at(collate)):
        if not isinstance(origin.node, (ast.FunctionDef, ast.Lambda)):
            continue
        names = [a.arg for a in (*origin.node.args.posonlyargs, *origin.node.args.args)]
        implicit = 1 if origin.owner is not None else 0
        if len(names) <= implicit:
            continue
        given = {names[implicit]: value.at(dataset)}
        frame = Frame(
            origin.node, Value(value.module, asked, value.frame), origin.owner, implicit, given=given
        )
        found += enter(walk, origin.module, frame, value.path[1:], chain) or []
    return found or None
