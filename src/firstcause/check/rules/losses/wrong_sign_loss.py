"""A divergence is subtracted from a loss that is minimised.

Why: the closed form with its minus in front, and torch's kl_divergence, are never negative: subtracted, they are made as
large as can be, and the posterior is driven away from the prior.
Refuted by: a log-likelihood in the place of the loss, a difference that is negated as a whole, a form without the minus.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.facts.losses import FUNCTIONS, LOSSES
from firstcause.check.library_names import shortest
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve

SLUG = "wrong-sign-loss"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

DIVERGENCES = frozenset({"torch.distributions.kl_divergence", "torch.distributions.kl.kl_divergence"})
KEEPS = frozenset({"sum", "mean"})
# How often a name is followed to what it was given.
HOPS = 3


def find(code: Code) -> Iterator[Finding]:
    if "backward" not in code.called_names():
        return
    for module in code.modules:
        for node in module.nodes(ast.BinOp):
            if not isinstance(node.op, ast.Sub) or _negated(module, node):
                continue
            if _is_divergence(code, module, node.right, HOPS) and _is_loss(code, module, node.left, HOPS):
                taken = ast.unparse(node.right)
                text = (
                    f"{taken} is a divergence, which is never negative, and the loss is minimised: subtracted, it is made as "
                    f"large as can be; add it: {ast.unparse(node.left)} + {taken}"
                )
                yield finding(SLUG, CATEGORY, module, node, text)


def _negated(module: Module, node: ast.AST) -> bool:
    parent = module.parents.get(node)
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)


def _is_divergence(code: Code, module: Module, node: ast.AST, hops: int) -> bool:
    """``-0.5 * (1 + logvar - mu**2 - logvar.exp()).sum()``, kl_divergence, or either of them weighted."""
    if isinstance(node, ast.Call):
        if shortest(external(resolve(code.project, module, node.func))) in DIVERGENCES:
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in KEEPS:
            inner = node.args[0] if last_name(node.func.value) == "torch" and node.args else node.func.value
            return _is_divergence(code, module, inner, hops)
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        if isinstance(node.op, ast.Mult) and _is_minus(node.left) and _is_closed_form(node.right):
            return True
        sides = (node.left, node.right) if isinstance(node.op, ast.Mult) else (node.left,)
        return any(_is_divergence(code, module, side, hops) for side in sides)
    if isinstance(node, ast.Name) and hops:
        origins = code.origins(module, node)
        return bool(origins) and all(
            o.node is not node and _is_divergence(code, o.module, o.node, hops - 1) for o in origins
        )
    return False


def _is_minus(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        return _is_minus(node.left)
    return (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    )


def _is_closed_form(node: ast.AST) -> bool:
    """``1 + logvar - mu**2 - exp(logvar)``: a one that is added, and an exponential that is taken off."""
    ones = any(
        isinstance(n, ast.BinOp)
        and isinstance(n.op, ast.Add)
        and any(isinstance(s, ast.Constant) and s.value == 1 for s in (n.left, n.right))
        for n in ast.walk(node)
    )
    taken_off = any(
        isinstance(n, ast.BinOp)
        and isinstance(n.op, ast.Sub)
        and any(isinstance(c, ast.Call) and last_name(c.func) == "exp" for c in ast.walk(n.right))
        for n in ast.walk(node)
    )
    return ones and taken_off


def _is_loss(code: Code, module: Module, node: ast.AST, hops: int) -> bool:
    """What torch's losses give, or a mean or part of it."""
    if isinstance(node, ast.Call):
        name = shortest(external(resolve(code.project, module, node.func)))
        if name.startswith("torch.nn.functional.") and name.rpartition(".")[2] in FUNCTIONS:
            return True
        made = code.made_by(module, node.func) if not name else set()
        if made and all(m.startswith("torch.nn.") and m.rpartition(".")[2] in LOSSES for m in made):
            return True
        attribute = node.func if isinstance(node.func, ast.Attribute) else None
        return (
            attribute is not None
            and attribute.attr in KEEPS
            and _is_loss(code, module, attribute.value, hops)
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mult, ast.Add)):
        return _is_loss(code, module, node.left, hops) or (
            isinstance(node.op, ast.Mult) and _is_loss(code, module, node.right, hops)
        )
    if isinstance(node, ast.Name) and hops:
        origins = code.origins(module, node)
        return bool(origins) and all(
            o.node is not node and _is_loss(code, o.module, o.node, hops - 1) for o in origins
        )
    return False


_VAE = """
import torch
import torch.nn.functional as F

def objective(logits, x, mu, logvar, beta=1.0):
    recon = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / x.size(0)
    kl = {kl}
    return {whole}{mark}

def fit(vae, loader):
    opt = torch.optim.Adam(vae.parameters())
    for x in loader:
        loss = objective(*vae(x))
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
_FORM = "-0.5 * (1 + logvar - mu.square() - logvar.exp()).sum() / x.size(0)"
BAD = (
    Example(_VAE.format(kl=_FORM, whole="recon - kl", mark="  # found")),
    Example(
        _VAE.format(
            kl="-0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())",
            whole="recon - beta * kl",
            mark="  # found",
        )
    ),
)
GOOD = (
    Example(_VAE.format(kl=_FORM, whole="recon + kl", mark="")),
    Example(_VAE.format(kl=_FORM.replace("-0.5", "0.5"), whole="recon - kl", mark="")),
    Example(_VAE.format(kl=_FORM, whole="-(x.log() - kl)", mark="")),
)
