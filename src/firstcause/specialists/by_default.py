"""Embeddings that are off because torch freezes what is made of given vectors, where the program means to train them.

The default alone is no mistake. It is one where the optimizer has a group for the embedding, where the program says that the
vectors are a start, or where they are random and hardly anything is learned on top of them.
"""

from __future__ import annotations

import ast
import re

from firstcause.lab.counterfactual import Ran
from firstcause.source import Project
from firstcause.source.switches import switches
from firstcause.source.tables import KINDS, maker, tables
from firstcause.specialists.examination import Facts
from firstcause.specialists.losses import end, mean

# Somebody who writes one of these knows what is not trained.
KNOWN = re.compile(
    r"froz|freez|\bfixed|untrain|(not|never|without|n't|no) (be(ing)? )?train|non.?train|\bstatic\b|"
    r"\bprobe|pre-?comput|comput(ed|es) (before|earlier|once)|feature.extract|"
    r"\b(stay|kept|keep|keeps|left|leave|used) (as|un|where)|lookup.only|random.(feature|project|fourier)",
    re.IGNORECASE,
)
# What is said of values that are to be trained from there on.
START = re.compile(
    r"\b(start(s|ed|ing)?|begins?|initiali[sz](e|ed|es|ation|ing))\b.{0,30}\b(from|with|as|point)\b|fine.?tun|"
    r"(rough|warm|good|better|head) ?.?start",
    re.IGNORECASE | re.DOTALL,
)
VECTORS = re.compile(r"vector|embedding|\btable|glove|word2vec|fasttext|pre.?train", re.IGNORECASE)
# What is left of the first loss where little is learned, and of the last one where the vectors are trained.
HARDLY, SOME = 0.5, 0.25
MUCH, CLEAR = 0.5, 0.8


def off(found: Ran, project: Project) -> tuple[str, list[Facts]]:
    """How the default shows as a mistake, and the parameters that it holds; empty where it does not show."""
    frozen: list[Facts] = [p for p in found.facts.get("frozen") or [] if p["class"] in KINDS]
    made = tables(project)
    if not frozen or not made or any(KNOWN.search(m.text) for m in project.modules):
        return "", []
    if any(s.on is not True for s in switches(project)):
        return "", []
    mine = [
        p
        for p in frozen
        if p["held"] and p["last_on"] is None and maker(str(p["name"]), made, len(frozen)) is not None
    ]
    if any(p["alone"] for p in mine):
        return "group", [p for p in mine if p["alone"]]
    if mine and any(_is_start(t) for m in project.modules for t in _prose(m.text)):
        return "start", mine
    return ("random", drawn) if (drawn := [p for p in mine if p["drawn"]]) else ("", [])


def gained(how: str, arm: Ran, control: Ran) -> bool:
    """Whether as much comes of training them as its reason asks for, beside what any part more would give."""
    if how == "group" or not control.finite:
        return True
    begun, then, now = mean(control.losses[:3]), end(control), end(arm)
    if how == "start":
        return (then >= HARDLY * begun and now <= CLEAR * then) or (
            then >= SOME * begun and now <= MUCH * then
        )
    return then >= HARDLY * begun and now <= MUCH * then


def told(how: str) -> str:
    """The reason in words."""
    why = {
        "group": "the optimizer has a group for nothing else",
        "start": "the program calls its vectors a start",
        "random": "its vectors are random numbers",
    }.get(how, "")
    return f"from_pretrained freezes where it is not told freeze=False, and {why}"


def _is_start(text: str) -> bool:
    """Whether the vectors are what is a start, or what one starts from, in one breath."""
    return any(START.search(part) and VECTORS.search(part) for part in re.split(r"[;:.]", text))


def _prose(text: str) -> list[str]:
    """The comments of a file, and the sentences of its docstrings."""
    found = re.findall(r"(?m)(?:^|\s)#(.*)$", text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found += (ast.get_docstring(node) or "").split(". ")
    return found
