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
            # A label encoder gives each class its number, whoever sees it.
            if fit is not None:
                text = f"fitted on all samples, of which the split at line {split.node.lineno} makes the test set afterwards"
                yield finding(SLUG, CATEGORY, fit.module, fit.node, text, related=(split.site,))


def _fitted(code: Code, split: Call, given: ast.expr) -> Call | None:
    made = maker(code, split.module, given)
    if made is None or made.name != ".fit_transform" or made.receiver is None:
        return None
    owner = maker(code, made.module, made.receiver)
    if (
        owner is None
        or not owner.name.startswith(FITTED)
        or owner.name.endswith(("LabelEncoder", "LabelBinarizer"))
    ):
        return None
    return made


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
BAD = (
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
    Example(
        _BODY.format(
            cls="StandardScaler", before="pass", mark="", after="X_train = scaler.fit_transform(X_train)"
        )
    ),
    Example(_BODY.format(cls="LabelEncoder", before="y = scaler.fit_transform(y)", mark="", after="pass")),
    Example(_BODY.format(cls="StandardScaler", before="X = X / 255", mark="", after="pass")),
)
