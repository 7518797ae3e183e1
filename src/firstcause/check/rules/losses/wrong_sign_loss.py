"""A divergence is subtracted from a loss that is minimised.

Why: the closed form of a normal posterior's, with its minus in front, is never negative: subtracted, it is made as large as
can be, and the posterior is driven away from the prior.
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

KEEPS = frozenset({"sum", "mean"})
# How often a name is followed to what it was given.
HOPS = 3


def find(code: Code) -> Iterator[Finding]:
    if "backward" not in code.called_names():
        return
    for module in code.modules:
        for node in module.nodes(ast.BinOp):
            if not isinstance(node.op, ast.Sub) or not _is_minimised(code, module, node, HOPS):
                continue
            if _is_divergence(code, module, node.right, HOPS) and _is_loss(code, module, node.left, HOPS):
                taken = ast.unparse(node.right)
                text = (
                    f"{taken} is a divergence, which is never negative, and the loss is minimised: subtracted, it is made as "
                    f"large as can be; add it: {ast.unparse(node.left)} + {taken}"
                )
                yield finding(SLUG, CATEGORY, module, node, text)


def _is_minimised(code: Code, module: Module, node: ast.AST, hops: int) -> bool:
    """Whether a value goes on to ``backward()`` as it is: by names and returns, and never with a minus before it."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr == "backward" or (parent.attr in KEEPS and _is_called(code, module, parent, hops))
    if (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
    ):
        name = parent.targets[0].id
        scope = module.function(node) or module.tree
        uses = [
            n
            for n in ast.walk(scope)
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
        ]
        if any(isinstance(module.parents.get(n), ast.UnaryOp) for n in uses):
            return False
        return bool(hops) and any(_is_minimised(code, module, n, hops - 1) for n in uses)
    if isinstance(parent, (ast.Return, ast.Tuple)):
        function = module.function(node)
        calls = [
            (m, c)
            for m in code.modules
            for c in m.nodes(ast.Call)
            if last_name(c.func) == getattr(function, "name", "")
        ]
        if any(isinstance(m.parents.get(c), ast.UnaryOp) for m, c in calls):
            return False
        return bool(hops) and any(_is_minimised(code, m, c, hops - 1) for m, c in calls)
    return False


def _is_called(code: Code, module: Module, node: ast.AST, hops: int) -> bool:
    parent = module.parents.get(node)
    return isinstance(parent, ast.Call) and _is_minimised(code, module, parent, hops)


def _is_divergence(code: Code, module: Module, node: ast.AST, hops: int) -> bool:
    """``-0.5 * (1 + logvar - mu**2 - logvar.exp()).sum()``, weighted or not."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in KEEPS:
            inner = node.args[0] if last_name(node.func.value) == "torch" and node.args else node.func.value
            return _is_divergence(code, module, inner, hops)
        return False
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        if isinstance(node.op, ast.Mult) and _is_minus(node.left) and _is_closed_form(node.right):
            return True
        if any(isinstance(side, ast.UnaryOp) for side in (node.left, node.right)):
            # Weighted by a number below 0.
            return False
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
        if any(isinstance(n, ast.USub) for side in (node.left, node.right) for n in ast.walk(side)):
            return False
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
_BOUND = """
import torch
import torch.nn.functional as F

def fit(vae, loader):
    opt = torch.optim.Adam(vae.parameters())
    for x in loader:
        out, mu, logvar = vae(x)
        log_px = -0.5 * F.mse_loss(out, x, reduction="sum")
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        elbo = log_px - kl
        loss = -elbo
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
GOOD = (
    Example(_BOUND),
    Example(_VAE.format(kl=_FORM, whole="recon + kl", mark="")),
    Example(_VAE.format(kl=_FORM.replace("-0.5", "0.5"), whole="recon - kl", mark="")),
    Example(_VAE.format(kl=_FORM, whole="-(x.log() - kl)", mark="")),
)
