"""A scaler or encoder is fitted on all data before they are split.

Why: the test samples have shaped what they are judged with: the figures come out better than on new data.
Refuted by: a fit on the training part, a split that comes first.
Holds for: scikit-learn, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.makers import maker
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "fit-before-split"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

FITTED = (
    "sklearn.preprocessing.",
    "sklearn.decomposition.",
    "sklearn.feature_extraction.",
    "sklearn.impute.",
    "sklearn.feature_selection.",
)


def find(code: Code) -> Iterator[Finding]:
    for split in code.calls("sklearn.model_selection.train_test_split"):
        for given in split.node.args:
            fit = _fitted(code, split, given)
            if fit is not None:
                text = f"fitted on all samples, of which the split at line {split.node.lineno} makes the test set afterwards"
                yield finding(SLUG, CATEGORY, fit.module, fit.node, text, related=(split.site,))
    for fit in code.methods("fit_transform"):
        cut = _cut_in_two(fit)
        if cut is not None and _is_fitted(code, fit):
            text = f"fitted on all samples, of which line {cut.lineno} takes a part to test on"
            yield finding(SLUG, CATEGORY, fit.module, fit.node, text, related=(fit.module.site(cut),))


def _cut_in_two(fit: Call) -> ast.Subscript | None:
    """The second of ``x[:n]`` and ``x[n:]``, where ``x`` is what was fitted."""
    statement = fit.module.statement(fit.node)
    if not isinstance(statement, ast.Assign) or statement.value is not fit.node:
        return None
    names = {t.id for t in statement.targets if isinstance(t, ast.Name)}
    scope = fit.module.function(fit.node) or fit.module.tree
    ends: set[str] = set()
    for part in fit.module.inside(scope, ast.Subscript):
        if (
            not isinstance(part.value, ast.Name)
            or part.value.id not in names
            or not isinstance(part.slice, ast.Slice)
        ):
            continue
        lower, upper = part.slice.lower, part.slice.upper
        if lower is None and upper is not None and part.lineno > fit.node.lineno:
            ends.add(ast.unparse(upper))
        elif lower is not None and upper is None and ast.unparse(lower) in ends:
            return part
    return None


def _fitted(code: Code, split: Call, given: ast.expr) -> Call | None:
    made = maker(code, split.module, given)
    return made if made is not None and _is_fitted(code, made) else None


def _is_fitted(code: Code, made: Call) -> bool:
    """Whether a call fits what learns from the samples: a label encoder gives each class its number, whoever sees it."""
    owner = maker(code, made.module, made.receiver) if made.receiver is not None else None
    return (
        made.name == ".fit_transform"
        and owner is not None
        and owner.name.startswith(FITTED)
        and not owner.name.endswith(("LabelEncoder", "LabelBinarizer"))
    )


_BODY = """
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import LabelEncoder, StandardScaler

def load(X, y):
    scaler = {cls}()
    {before}{mark}
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)
    {after}
    return X_train, X_test
"""
_CUT = """
import numpy as np
from sklearn.preprocessing import LabelEncoder, StandardScaler

series = np.load("a.npy")
cut = int(0.8 * len(series))
{fit}{mark}
train, test = series[:cut], series[cut:]
"""
BAD = (
    Example(_CUT.format(fit="series = StandardScaler().fit_transform(series)", mark="  # found")),
    Example(
        _BODY.format(
            cls="StandardScaler", before="X = scaler.fit_transform(X)", mark="  # found", after="pass"
        )
    ),
    Example("""
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

def load(texts, y):
    features = TfidfVectorizer().fit_transform(texts)  # found
    return train_test_split(features, y)
"""),
)
GOOD = (
    Example(_CUT.format(fit="series[:cut] = StandardScaler().fit_transform(series[:cut])", mark="")),
    Example(_CUT.format(fit="codes = LabelEncoder().fit_transform(series)", mark="")),
    Example(
        _BODY.format(
            cls="StandardScaler", before="pass", mark="", after="X_train = scaler.fit_transform(X_train)"
        )
    ),
    Example(_BODY.format(cls="LabelEncoder", before="y = scaler.fit_transform(y)", mark="", after="pass")),
    Example(_BODY.format(cls="StandardScaler", before="X = X / 255", mark="", after="pass")),
)
