"""What ends a network for segmentation of torchvision or segmentation_models_pytorch: scores, unless something squashes them."""

from __future__ import annotations

import ast

from firstcause.check.activation_names import Activation
from firstcause.check.code import Code
from firstcause.check.library_names import shortest
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve

# The networks of segmentation_models_pytorch that are made bare; ``create_model`` and ``from_pretrained`` may read a head.
SMP_NETWORKS = frozenset(
    {
        "DPT", "DeepLabV3", "DeepLabV3Plus", "FPN", "Linknet", "MAnet", "PAN", "PSPNet", "Segformer", "UPerNet", "Unet",
        "UnetPlusPlus",
    }
)  # fmt: skip
# segmentation_models_pytorch's networks take fewer than that by place before ``activation``.
SMP_PLACES = 4
SMP_ENDS: dict[object, Activation] = {
    None: "linear", "identity": "linear", "sigmoid": "sigmoid", "softmax": "softmax", "softmax2d": "softmax",
    "logsoftmax": "log-softmax", "tanh": "tanh",
}  # fmt: skip


def of_torchvision(code: Code, module: Module, node: ast.expr) -> Activation:
    """Scores without an activation, where all that makes the network is one of torchvision's for segmentation."""
    calls = [o for o in code.origins(module, node) if isinstance(o.node, ast.Call)]
    made = [
        (m, o.node)
        for call in calls
        if isinstance(call.node, ast.Call)
        for m, o in ((o.module, o) for o in code.origins(call.module, call.node.func))
    ]
    names = {
        shortest(external(resolve(code.project, m, n.func))) if isinstance(n, ast.Call) else ""
        for m, n in made
    }
    own = names and all(n.startswith("torchvision.models.segmentation.") for n in names)
    return "linear" if own and not any(map(_ends_in_activation, {m for m, _ in made})) else ""


def _ends_in_activation(module: Module) -> bool:
    """Whether the file puts a head of its own into a network that squashes the scores."""
    heads = (a for a in module.nodes(ast.Assign) if any("classifier" in ast.unparse(t) for t in a.targets))
    return any(word in ast.unparse(a.value) for a in heads for word in ("Sigmoid", "Softmax", "sigmoid"))


def is_smp_network(name: str) -> bool:
    """Whether a dotted name is that of a network which is made bare."""
    library, _, network = name.rpartition(".")
    return library == "segmentation_models_pytorch" and network in SMP_NETWORKS


def of_smp(module: Module, node: ast.Call) -> Activation:
    """What ends a network of segmentation_models_pytorch: nothing, unless ``activation=`` or a head of one's own does."""
    names = {k.arg for k in node.keywords}
    touched = any(a.attr == "segmentation_head" for a in module.nodes(ast.Attribute))
    if names & {None, "aux_params"} or len(node.args) > SMP_PLACES or touched:
        return ""
    given = next((k.value for k in node.keywords if k.arg == "activation"), ast.Constant(None))
    return SMP_ENDS.get(given.value, "") if isinstance(given, ast.Constant) else ""
