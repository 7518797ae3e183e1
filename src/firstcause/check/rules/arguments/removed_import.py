"""A name is imported that the library does not export any more.

Why: the import raises ImportError, before anything runs.
Refuted by: an older version that is pinned or installed, an import under try or under a test of the version.
Holds for: the versions in the tables of arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.renamed import instead
from firstcause.check.rule import Example
from firstcause.check.signatures import export_standing, table
from firstcause.schema.finding import Category, Finding

SLUG = "removed-import"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for module in code.modules:
        for node in module.nodes(ast.ImportFrom):
            library = node.module or ""
            if node.level or "." in library or table(library) is None:
                continue
            if any(isinstance(p, (ast.Try, ast.If)) for p in module.ancestors(node)):
                continue
            for alias in node.names:
                if export_standing(library, alias.name, code.versions) != "removed":
                    continue
                text = f"{library} does not export {alias.name} any more"
                current = instead("exports", alias.name)
                text += f"; now: {current}" if current else ""
                yield finding(SLUG, CATEGORY, module, alias, text, argument=alias.name)


BAD = (
    Example("""
from datasets import load_dataset, load_metric  # found
"""),
    Example("""
from peft import prepare_model_for_int8_training  # found
"""),
)
GOOD = (
    Example("""
from datasets import load_dataset
"""),
    Example("""
try:
    from datasets import load_metric
except ImportError:
    load_metric = None
"""),
    Example("""
from peft import prepare_model_for_kbit_training, something_we_never_saw
"""),
)
