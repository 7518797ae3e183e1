"""Faults of data, ranks and files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from injected.source import Edit, Source, replaced, span, without_keyword


def evaluated_on_train(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"[\w.]*Trainer"):
        named = {k.arg: k.value for k in call.keywords}
        if "train_dataset" in named and "eval_dataset" in named:
            yield replaced(named["eval_dataset"], source.segment(named["train_dataset"]))


def test_split(source: Source) -> Iterator[Edit]:
    for node in source.nodes:
        if (
            isinstance(node, ast.keyword)
            and node.arg == "train_dataset"
            and isinstance(node.value, ast.Subscript)
            and ast.unparse(node.value.slice) == "'train'"
        ):
            yield replaced(node.value.slice, '"test"')


def shuffle_off(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"([\w.]+\.)?DataLoader"):
        for keyword in call.keywords:
            if (
                keyword.arg == "shuffle"
                and ast.unparse(keyword.value) == "True"
                and "train" in ast.unparse(source.statement(call))
            ):
                yield replaced(keyword.value, "False")


def sampler_removed(source: Source) -> Iterator[Edit]:
    if "DistributedSampler" in source.text and "init_process_group" in source.text:
        yield from without_keyword(r"([\w.]+\.)?DataLoader", "sampler")(source)


def sampler_and_shuffle(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"([\w.]+\.)?DataLoader"):
        names = {k.arg for k in call.keywords}
        if "sampler" in names and "shuffle" not in names:
            keyword = next(k for k in call.keywords if k.arg == "sampler")
            start = span(keyword)[0]
            yield Edit(call.lineno, ((start, start, "shuffle=True, "),))


def unguarded_save(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"torch\.save"):
        test = source.around(call, ast.If, ast.FunctionDef)
        if isinstance(test, ast.If) and re.search(r"rank|is_main|master", ast.unparse(test.test)):
            yield replaced(test.test, "True")


def safe_yaml(source: Source) -> Iterator[Edit]:
    for call in source.calls(r"yaml\.safe_load"):
        yield replaced(call, f"yaml.load({', '.join(map(source.segment, call.args))}, Loader=yaml.Loader)")
