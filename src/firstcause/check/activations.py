"""What a value passed last before it was used: softmax, sigmoid, their logarithms, or a linear layer."""

from __future__ import annotations

import ast

from firstcause.check.activation_names import FUNCTIONS, Activation
from firstcause.check.code import Code
from firstcause.check.library_names import shortest
from firstcause.check.products import factors_of_product
from firstcause.check.segmentation import is_smp_network, of_smp, of_torchvision
from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve
from firstcause.source.walk import Origin

# Layers of torch_geometric that sum over neighbours, and that no activation ends.
GRAPH_SUMS = frozenset(
    {"GCNConv", "SAGEConv", "GATConv", "GATv2Conv", "GraphConv", "ChebConv", "TAGConv", "SGConv"}
)
# The last part of torchvision's and timm's models.
HEADS = frozenset({"fc", "classifier", "head", "heads"})
# Methods that change the shape and not the numbers.
SHAPES = frozenset(
    {
        "squeeze",
        "unsqueeze",
        "view",
        "reshape",
        "flatten",
        "float",
        "double",
        "contiguous",
        "transpose",
        "permute",
        "to",
        "cuda",
    }
)
# What may be done with the rows of an embedding so that they still take any sign.
SIGNED = frozenset(
    {"kaiming_normal_", "kaiming_uniform_", "normal_", "trunc_normal_", "xavier_normal_", "xavier_uniform_"}
)
READ = frozenset(
    {"abs", "cpu", "detach", "device", "dtype", "grad", "norm", "numpy", "pow", "shape", "size", "square"}
)


def activations(code: Code, module: Module, node: ast.expr) -> set[Activation]:
    """The activations that may make a value; "" among them where the code does not say it, or changes it in place."""
    if isinstance(node, ast.Name) and any(_is_in_place(c, node.id) for c in module.nodes(ast.Call)):
        return {""}
    return {activation(code, o) for o in code.origins(module, node)}


def _is_in_place(call: ast.Call, name: str) -> bool:
    """Whether a method such as ``x.sigmoid_()`` writes into what is called so."""
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr.endswith("_") and func.attr != "requires_grad_":
        return isinstance(func.value, ast.Name) and func.value.id == name
    return any(k.arg == "out" and isinstance(k.value, ast.Name) and k.value.id == name for k in call.keywords)


def activation(code: Code, origin: Origin) -> Activation:
    """The activation that makes a value; empty where the code does not say it."""
    return _of(code, origin.module, origin.node, 6)


def place(code: Code, origin: Origin) -> tuple[Module, ast.AST]:
    """Where the activation itself stands: the last part of a Sequential, else the expression that makes the value."""
    node, module = origin.node, origin.module
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SHAPES:
        found = code.origins(module, node.func.value)
        if len(found) != 1:
            break
        node, module = found[0].node, found[0].module
    made = _made(code, module, node.func) if isinstance(node, ast.Call) else []
    last = made[0][1].args[-1] if len(made) == 1 and made[0][1].args else None
    is_part = isinstance(last, ast.Call) and FUNCTIONS.get(last_name(last.func)) in ("softmax", "sigmoid")
    return (made[0][0], last) if is_part and last is not None else (origin.module, origin.node)


def _of(code: Code, module: Module, node: ast.AST, hops: int) -> Activation:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "out":
        # What torchvision's networks for segmentation give.
        return of_torchvision(code, module, node.value)
    if hops and (factors := factors_of_product(code, module, node)):
        # Of raw values; what is between 0 and 1, or above 0, may make a product that is.
        raw = (
            _common(code, module, f, hops) in ("linear", "product") or _looked_up(code, module, f)
            for f in factors
        )
        return "product" if all(raw) else ""
    if not isinstance(node, ast.Call) or hops == 0:
        return ""
    func = node.func
    name = shortest(external(resolve(code.project, module, func)))
    if name.startswith(("torch.", "torch.nn.functional.")):
        return FUNCTIONS.get(name.rpartition(".")[2], "")
    if isinstance(func, ast.Attribute) and func.attr in SHAPES:
        return _common(code, module, func.value, hops)
    if isinstance(func, ast.Attribute) and func.attr in ("softmax", "log_softmax", "sigmoid", "tanh", "relu"):
        return FUNCTIONS[func.attr]
    return _of_module(code, module, func)


def _common(code: Code, module: Module, node: ast.expr, hops: int) -> Activation:
    found = {_of(code, o.module, o.node, hops - 1) for o in code.origins(module, node)}
    return found.pop() if len(found) == 1 else ""


def _looked_up(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether a value is a row of an embedding as it is, with dropout or without."""
    found = code.origins(module, node)
    if len(found) != 1 or not isinstance(found[0].node, ast.Call):
        return False
    where, call = found[0].module, found[0].node
    names = {shortest(external(resolve(code.project, m, c.func))) for m, c in _made(code, where, call.func)}
    if names == {"torch.nn.Dropout"} and len(call.args) == 1:
        return _looked_up(code, where, call.args[0])
    return names == {"torch.nn.Embedding"} and not _keeps_to_a_sign(code, call.func)


def _keeps_to_a_sign(code: Code, table: ast.expr) -> bool:
    """Whether the weights of an embedding are written by more than a start of both signs: clamped, made shares."""
    last = last_name(table)
    weights = (
        (m, n)
        for m in code.modules
        for n in m.nodes(ast.Attribute)
        if n.attr == "weight" and last_name(n.value) == last
    )
    return not all(_is_read_or_signed(m, n) for m, n in weights)


def _is_read_or_signed(module: Module, weight: ast.Attribute) -> bool:
    parent = module.parents.get(weight)
    if isinstance(parent, ast.Attribute):
        return parent.attr in READ
    return isinstance(parent, ast.Call) and last_name(parent.func) in SIGNED


def _of_module(code: Code, module: Module, func: ast.expr) -> Activation:
    """The class of the module that is called; a Sequential's last part."""
    found: set[Activation] = set()
    for where, node in _made(code, module, func):
        name = shortest(external(resolve(code.project, where, node.func)))
        if name == "torch.nn.Sequential" and node.args and isinstance(node.args[-1], ast.Call):
            node = node.args[-1]
            name = shortest(external(resolve(code.project, where, node.func)))
        if name.startswith("torch_geometric.nn.") and name.rpartition(".")[2] in GRAPH_SUMS:
            found.add("linear")
            continue
        if is_smp_network(name):
            found.add(of_smp(where, node))
            continue
        found.add(FUNCTIONS.get(name.rpartition(".")[2], "") if name.startswith("torch.nn.") else "")
    return found.pop() if len(found) == 1 else ""


def _made(code: Code, module: Module, func: ast.expr) -> list[tuple[Module, ast.Call]]:
    """What makes a module that is called; the new head of a library's model that is put in its place."""
    if isinstance(func, ast.Subscript):
        if _grows(module, func.value):
            return []
        listed = _listed(code, module, func)
        if listed is not None:
            return [listed]
    origins = code.origins(module, func)
    if not origins or not all(isinstance(o.node, ast.Call) for o in origins):
        return []
    found = [(o.module, o.node) for o in origins if isinstance(o.node, ast.Call)]
    names = {shortest(external(resolve(code.project, m, c.func))) for m, c in found}
    if all(n.startswith(("torchvision.models.", "timm.create_model")) for n in names):
        heads = _heads(module, func)
        return heads if len(heads) == 1 else []
    return found


def _grows(module: Module, listed: ast.expr) -> bool:
    """Whether more is put into a list of modules where it was made: ``self.layers.append(nn.Sigmoid())``."""
    text = ast.unparse(listed)
    functions = [c.func for c in module.nodes(ast.Call) if isinstance(c.func, ast.Attribute)]
    return any(f.attr in ("append", "extend", "insert") and ast.unparse(f.value) == text for f in functions)


def _listed(code: Code, module: Module, func: ast.Subscript) -> tuple[Module, ast.Call] | None:
    """What makes the part that ``self.convs[-1]`` is, in a list of modules that are made alike or written out."""
    made = code.origins(module, func.value)
    if len(made) != 1 or not isinstance(made[0].node, ast.Call) or not made[0].node.args:
        return None
    where, call = made[0].module, made[0].node
    name = shortest(external(resolve(code.project, where, call.func)))
    parts = call.args[0]
    one: ast.expr | None = None
    if isinstance(parts, (ast.GeneratorExp, ast.ListComp)):
        one = parts.elt
    elif isinstance(parts, ast.List) and parts.elts and ast.unparse(func.slice) == "-1":
        one = parts.elts[-1]
    return (where, one) if name == "torch.nn.ModuleList" and isinstance(one, ast.Call) else None


def _heads(module: Module, model: ast.expr) -> list[tuple[Module, ast.Call]]:
    """``model.fc = nn.Sequential(…)`` of the model that an expression names, in the same file."""
    name = ast.unparse(model)
    return [
        (module, node.value)
        for node in module.nodes(ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute) and target.attr in HEADS and ast.unparse(target.value) == name
        if isinstance(node.value, ast.Call)
    ]
