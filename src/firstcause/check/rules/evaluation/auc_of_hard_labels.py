"""An area under the curve is computed of classes already chosen.

Why: the curve needs scores; of 0 and 1 it has one corner, and the area says little more than the accuracy.
Refuted by: probabilities or logits.
Holds for: scikit-learn, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "auc-of-hard-labels"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

CURVES = (
    "sklearn.metrics.roc_auc_score",
    "sklearn.metrics.average_precision_score",
    "sklearn.metrics.roc_curve",
)


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls(*CURVES):
        given = call.argument("y_score", 1)
        origins = code.origins(given.module, given.node) if given is not None else []
        if origins and all(_chosen(o.node) for o in origins):
            text = f"{call.name.rpartition('.')[2]} gets chosen classes; it needs their scores (probabilities or logits)"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="y_score")


def _chosen(node: ast.AST) -> bool:
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("cpu", "numpy", "tolist", "int", "long")
    ):
        node = node.func.value
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "argmax"


_BODY = """
from sklearn.metrics import roc_auc_score

def area(net, x, y):
    out = net(x)
    guess = {guess}
    return roc_auc_score(y, guess){mark}
"""
BAD = (
    Example(_BODY.format(guess="out.argmax(1).cpu().numpy()", mark="  # found")),
    Example(_BODY.format(guess="out.argmax(-1)", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(guess="out.softmax(1)[:, 1]", mark="")),
    Example(_BODY.format(guess="out[:, 1].cpu().numpy()", mark="")),
    Example(_BODY.format(guess="out.argmax(1)", mark="").replace("roc_auc_score", "accuracy_score")),
)
