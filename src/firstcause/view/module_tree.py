"""The modules of a model as the lines of a tree: where bad values were made, and what each module gave out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# A larger model shows the ways to what is marked; what lies beside them is one line each.
MOST = 60


def module_tree(
    parameters: Iterable[str],
    births: Sequence[Mapping[str, Any]],
    bad_gradients: Iterable[str],
    activations: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """A line a module in the order of the model: depth, name, parameters, births by number, gradients that are bad.

    ``parameters`` are names as a module's path and its own; a birth outside of all modules has a line of its own.
    """
    nodes: dict[str, dict[str, Any]] = {}
    # In the order in which they ran; the record names those with parameters alone.
    for path in activations:
        _node(nodes, path)
    for name in parameters:
        _node(nodes, name.rpartition(".")[0])["parameters"] += 1
    for name in bad_gradients:
        _node(nodes, name.rpartition(".")[0])["bad_gradients"] += 1
    for number, birth in enumerate(births):
        # The backward pass is one of no module: what it made is told beside the tree, but for the first of all.
        if birth.get("phase") != "backward" or number == 0:
            _node(nodes, str(birth.get("module") or ""))["births"].append(number)
    for path, figures in activations.items():
        nodes[path]["output"] = dict(figures)
    ordered = _ordered(nodes)
    marked = {path for path in ordered if nodes[path]["births"] or nodes[path]["bad_gradients"]}
    shown = set(ordered) if len(ordered) <= MOST else _ways(ordered, marked)
    lines = []
    for path in ordered:
        if path in shown:
            below = sum(other.startswith(f"{path}.") for other in ordered) if path else 0
            left = below - sum(other.startswith(f"{path}.") for other in shown) if path else 0
            lines.append(nodes[path] | {"left": left})
    return lines


def _node(nodes: dict[str, dict[str, Any]], path: str) -> dict[str, Any]:
    """The node of a path, made with all above it."""
    if path not in nodes:
        above, _, name = path.rpartition(".")
        if above:
            _node(nodes, above)
        depth = path.count(".")
        nodes[path] = {
            "path": path,
            "name": name,
            "depth": depth,
            "parameters": 0,
            "bad_gradients": 0,
            "births": [],
        }
    return nodes[path]


def _ordered(nodes: Mapping[str, Any]) -> list[str]:
    """Each path behind the one above it, else as they came."""
    below: dict[str, list[str]] = {}
    for path in nodes:
        below.setdefault(path.rpartition(".")[0] if path else "", []).append(path)
    found: list[str] = []
    queue = below.get("", [])[::-1]
    while queue:
        path = queue.pop()
        found.append(path)
        if path:
            queue += below.get(path, [])[::-1]
    return found


def _ways(ordered: Sequence[str], marked: Iterable[str]) -> set[str]:
    """The marked paths, all above them, and what lies beside each of these; never more than twice ``MOST``."""
    ways = {""} if "" in ordered else set()
    for path in marked:
        while path:
            ways.add(path)
            path = path.rpartition(".")[0]
    beside = [p for p in ordered if p.rpartition(".")[0] in ways or "." not in p]
    kept = [p for p in ordered if p in ways][: 2 * MOST]
    return {*kept, *beside[: max(0, 2 * MOST - len(kept))]}
