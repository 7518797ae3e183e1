"""A name is imported that the library, or the module of it that is named, does not have any more.

Why: the import raises ImportError, before anything runs.
Refuted by: an older version that is pinned or installed, an import under try or under a test of the version.
Holds for: the versions in the tables of arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.moved import last_version_with
from firstcause.check.renamed import instead
from firstcause.check.rule import Example
from firstcause.check.signatures import export_standing, table
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module

SLUG = "removed-import"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for module in code.modules:
        for node in module.nodes(ast.ImportFrom):
            library = node.module or ""
            if node.level or table(library.partition(".")[0]) is None:
                continue
            if any(isinstance(p, (ast.Try, ast.If)) for p in module.ancestors(node)):
                continue
            if "." in library:
                yield from _of_module(code, module, node, library)
                continue
            for alias in node.names:
                if export_standing(library, alias.name, code.versions) != "removed":
                    continue
                text = f"{library} does not export {alias.name} any more"
                current = instead("exports", alias.name)
                text += f"; now: {current}" if current else ""
                yield finding(SLUG, CATEGORY, module, alias, text, argument=alias.name)


def _of_module(code: Code, module: Module, node: ast.ImportFrom, place: str) -> Iterator[Finding]:
    """The imports from a module inside of a library."""
    library = place.partition(".")[0]
    last = last_version_with(place, "", code.versions)
    if last:
        text = f"{library} has no module {place} any more (the last version read that has it is {last})"
        yield finding(SLUG, CATEGORY, module, node, text, argument=place)
        return
    for alias in node.names:
        last = last_version_with(place, alias.name, code.versions)
        if last and export_standing(library, alias.name, code.versions) != "taken":
            text = f"{place} has no {alias.name} any more (the last version read that has it is {library} {last})"
            current = instead("exports", alias.name)
            text += f"; now: {current}" if current else ""
            yield finding(SLUG, CATEGORY, module, alias, text, argument=alias.name)


BAD = (
    Example("""
from vllm.sampling_params import GuidedDecodingParams, SamplingParams  # found
"""),
    Example("""
from transformers.optimization import AdamW  # found
from transformers.deepspeed import HfDeepSpeedConfig  # found
"""),
    Example("""
from datasets import load_dataset, load_metric  # found
"""),
    Example("""
from peft import prepare_model_for_int8_training  # found
"""),
)
GOOD = (
    Example(
        "from vllm.sampling_params import SamplingParams\nfrom transformers.optimization import Adafactor\n"
    ),
    Example("""
try:
    from vllm.sampling_params import GuidedDecodingParams
except ImportError:
    GuidedDecodingParams = None
"""),
    Example("from transformers.never_seen import Something\n"),
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
