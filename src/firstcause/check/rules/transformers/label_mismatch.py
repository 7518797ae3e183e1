"""Labels of words are laid beside the tokens of those words, without asking which token belongs to which word.

Why: a word may be cut into several tokens: from the first such word on, each label stands beside another word's token, and the
model learns shifted tags without an error.
Refuted by: word_ids(), offsets or word_to_tokens in the file, labels that are made of the tokens themselves.
Holds for: transformers, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.callsites import last_name
from firstcause.source.module import Module

SLUG = "label-mismatch"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# What tells which word a token is of, as a name, an attribute, a key or an argument.
ALIGNING = frozenset(
    [
        "word_ids",
        "words",
        "word_to_tokens",
        "token_to_word",
        "char_to_token",
        "word_to_chars",
        "offset_mapping",
        "offsets",
        "return_offsets_mapping",
        "overflow_to_sample_mapping",
    ]
)
KEY = "labels"


def find(code: Code) -> Iterator[Finding]:
    if not code.imports("transformers"):
        return
    for module in code.modules:
        if "is_split_into_words" not in module.text:
            continue
        calls = [c for c in module.nodes(ast.Call) if _takes_words(code, module, c)]
        if not calls or _aligns(module):
            continue
        for function in {f for c in calls if isinstance(f := module.function(c), ast.FunctionDef)}:
            # One word at a time is aligned by as many labels as it has tokens.
            stored = next(_stored(function), None)
            if stored is not None:
                text = (
                    "one label a word is laid beside the tokens of is_split_into_words: from the first word that is cut into "
                    "several tokens on, every label belongs to another token; go by encoding.word_ids()"
                )
                yield finding(SLUG, CATEGORY, module, stored, text)


def _takes_words(code: Code, module: Module, call: ast.Call) -> bool:
    given = next((k.value for k in call.keywords if k.arg == "is_split_into_words"), None)
    known = code.constant(module, given) if given is not None else None
    return known is not None and known.value is True


def _aligns(module: Module) -> bool:
    for node in ast.walk(module.tree):
        named = isinstance(node, (ast.Attribute, ast.Name)) and last_name(node) in ALIGNING
        keyed = isinstance(node, ast.Constant) and node.value in ALIGNING
        if named or keyed or (isinstance(node, ast.keyword) and node.arg in ALIGNING):
            return True
    return False


def _stored(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """Where labels that the function was given are put beside the tokens; not those that are made of the tokens."""
    given = {a.arg for a in (*function.args.posonlyargs, *function.args.args)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Subscript):
            continue
        target = node.targets[0]
        if not isinstance(target.slice, ast.Constant) or target.slice.value != KEY:
            continue
        if "input_ids" not in ast.unparse(node.value) and _comes_from(function, node.value, given):
            yield node


def _comes_from(function: ast.FunctionDef, value: ast.expr, given: set[str]) -> bool:
    """Whether a value is made of the function's arguments, by way of the names that it assigns and appends to."""
    known, wanted = set[str](), {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    while wanted - known:
        name = (wanted - known).pop()
        known.add(name)
        if name in given:
            return True
        for node in ast.walk(function):
            wanted |= _made_of(node, name)
    return False


def _made_of(node: ast.AST, name: str) -> set[str]:
    """The names that a statement makes another one of."""
    sources: list[ast.expr] = []
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
        sources = [node.value]
    elif isinstance(node, (ast.For, ast.comprehension)):
        bound = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
        sources = [node.iter] if name in bound else []
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        of = isinstance(node.func.value, ast.Name) and node.func.value.id == name
        sources = node.args if of and node.func.attr in ("append", "extend") else []
    return {n.id for source in sources for n in ast.walk(source) if isinstance(n, ast.Name)}


_HEAD = """
from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained("bert-base-cased")
ROOM = 126

def encode(batch):
    encoded = tok(batch["tokens"], is_split_into_words=True, truncation=True, max_length=128)
"""
BAD = (
    Example(
        _HEAD
        + """
    labels = []
    for tags in batch["tags"]:
        labels.append([-100] + tags[:ROOM] + [-100])
    encoded["labels"] = labels  # found
    return encoded
"""
    ),
    Example(
        _HEAD
        + """
    encoded["labels"] = [[-100, *t[:ROOM], -100] for t in batch["ner_tags"]]  # found
    return encoded
"""
    ),
    Example(
        _HEAD.replace("def encode(batch)", "def encode(row, is_test=False)").replace("batch[", "row[")
        + """
    tags = row["tags"][: len(encoded["attention_mask"])]
    encoded["labels"] = tags  # found
    return encoded
"""
    ),
)
GOOD = (
    Example(
        _HEAD
        + """
    labels = []
    for n, tags in enumerate(batch["tags"]):
        labels.append([-100 if w is None else tags[w] for w in encoded.word_ids(n)])
    encoded["labels"] = labels
    return encoded
"""
    ),
    Example(
        _HEAD
        + """
    encoded["labels"] = [list(ids) for ids in encoded["input_ids"]]
    return encoded
"""
    ),
    Example(
        _HEAD.replace("is_split_into_words=True, ", "")
        + """
    encoded["labels"] = batch["label"]
    return encoded
"""
    ),
)
