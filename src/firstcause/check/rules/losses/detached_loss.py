"""A loss, or what it is made of, is made anew from its own numbers before backward.

Why: the new tensor is a leaf: backward ends there and no parameter gets a gradient. torch.tensor of a list of tensors
copies their numbers; torch.stack keeps what leads to them.
Refuted by: a graph that leads on from the tensor, a leaf that is itself what is trained.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.events import events, training_loops
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve
from firstcause.source.steps import EACH

SLUG = "detached-loss"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

MAKERS = frozenset(
    {"torch.tensor", "torch.as_tensor", "torch.FloatTensor", "torch.from_numpy", "torch.autograd.Variable"}
)
CUTS = frozenset({"item", "detach", "numpy", "tolist"})


def find(code: Code) -> Iterator[Finding]:
    for loop in training_loops(code):
        for event in events(code, loop):
            receiver = event.call.receiver
            if event.kind != "backward" or receiver is None:
                continue
            origins = code.origins(event.call.module, receiver)
            made = [o for o in origins if _is_cut(code, o.module, o.node)]
            if origins and len(made) == len(origins):
                node = made[0].node
                assert isinstance(node, ast.expr)
                text = f"{ast.unparse(node)[:60]} has no graph behind it: backward reaches no parameter, and nothing is learned"
                yield finding(SLUG, CATEGORY, made[0].module, node, text, related=(event.call.site,))
    yield from _copied(code)


def _copied(code: Code) -> Iterator[Finding]:
    """``torch.tensor(log_probs)``, where what the list holds are log-probabilities that a policy is trained by."""
    # Of old and new ones, the old are copied on purpose.
    if not code.trains() or len(code.methods("log_prob")) != 1:
        return
    (made,) = code.methods("log_prob")
    stacked = {ast.unparse(c.node.args[0]) for c in code.calls("torch.stack", "torch.cat") if c.node.args}
    if code.under(made.module, made.node, "torch.no_grad", "torch.inference_mode") is not None:
        return
    for call in code.calls("torch.tensor", "torch.as_tensor", "torch.FloatTensor"):
        given = call.node.args[0] if call.node.args else None
        if not isinstance(given, (ast.Name, ast.Attribute)) or ast.unparse(given) in stacked:
            continue
        held = [
            o.node
            for o in new_walk(code.project, spread=True).origins(Value(call.module, given, None, (EACH,)))
        ]
        if held and all(isinstance(n, ast.Call) and last_name(n.func) == "log_prob" for n in held):
            listed = ast.unparse(given)
            text = (
                f"torch.tensor copies the numbers of {listed} and leaves their graph: no gradient reaches what made them; "
                f"torch.stack({listed}) keeps it"
            )
            yield finding(SLUG, CATEGORY, call.module, call.node, text)


def _is_cut(code: Code, module: Module, node: ast.AST) -> bool:
    """A tensor made from a number, or a call that cuts the graph, ``requires_grad_()`` behind it or not."""
    if not isinstance(node, ast.Call):
        return False
    if external(resolve(code.project, module, node.func)) in MAKERS:
        return any(isinstance(n, ast.Call) for a in node.args for n in ast.walk(a))
    func = node.func
    if not isinstance(func, ast.Attribute):
        return False
    if func.attr == "requires_grad_":
        return _is_cut(code, module, func.value)
    return func.attr in CUTS


_LOOP = """
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        {lines}
        loss.backward()
        opt.step()
"""
_POLICY = """
import torch
from torch.distributions import Categorical

def play(env, net):
    chances, rewards = [], []
    state, done = env.reset(), False
    while not done:
        dist = Categorical(logits=net(state))
        action = dist.sample()
        state, reward, done = env.step(action)
        chances.append(dist.log_prob(action))
        rewards.append(reward)
    return chances, rewards

def fit(env, net):
    opt = torch.optim.Adam(net.parameters())
    for _ in range(100):
        chances, rewards = play(env, net)
        returns = torch.tensor(rewards)
        loss = -({made} * returns).mean(){mark}
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
BAD = (
    Example(_POLICY.format(made="torch.tensor(chances)", mark="  # found")),
    Example(_LOOP.format(lines="loss = torch.tensor(net(x).mean().item(), requires_grad=True)  # found")),
    Example(_LOOP.format(lines="loss = (net(x) - y).pow(2).mean().detach().requires_grad_()  # found")),
)
GOOD = (
    Example("""
import torch
from torch.distributions import Categorical

def fit(env, net):
    opt = torch.optim.Adam(net.parameters())
    before = []
    with torch.no_grad():
        for state, action in env:
            before.append(Categorical(logits=net(state)).log_prob(action))
    old = torch.tensor(before)
    new = Categorical(logits=net(env.states)).log_prob(env.actions)
    loss = -(new - old).exp().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""),
    Example(_POLICY.format(made="torch.stack(chances)", mark="")),
    Example(_LOOP.format(lines="loss = (net(x) - y).pow(2).mean()")),
    Example(_LOOP.format(lines="loss = (net(x) - net(y).detach()).pow(2).mean()")),
    Example(_LOOP.format(lines="loss = net(x).mean() * torch.tensor(0.5)")),
)
