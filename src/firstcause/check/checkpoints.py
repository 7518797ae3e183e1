"""What the name of a checkpoint says: encoder or decoder, with a padding token or without, trained on conversations."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Literal

from firstcause.catalog.toml import check_table

Kind = Literal["encoder", "decoder", "encoder-decoder"]


@dataclass(frozen=True)
class Family:
    """Checkpoints of one kind; ``pad_token`` says whether their tokenizers have one."""

    kind: Kind
    pad_token: bool
    pattern: re.Pattern[str]


@functools.cache
def _table() -> tuple[tuple[Family, ...], re.Pattern[str]]:
    table = check_table("models")
    found = tuple(
        Family(one["kind"], one["pad_token"], re.compile("|".join(rf"(?<![a-z]){n}" for n in one["names"])))
        for one in table["family"]
    )
    return found, re.compile("|".join(table["chat"]["names"]))


def family(name: str) -> Family | None:
    """The family of a checkpoint by the part of its name after the owner; the longest match counts, None for no match."""
    last = name.lower().rpartition("/")[2]
    matches = [(len(m[0]), -m.start(), f) for f in _table()[0] for m in [f.pattern.search(last)] if m]
    return max(matches, key=lambda m: m[:2])[2] if matches else None


def is_chat(name: str) -> bool:
    """Whether a checkpoint was trained on conversations and expects its chat template."""
    return bool(_table()[1].search(name.lower().rpartition("/")[2]))


@dataclass(frozen=True)
class Architecture:
    """Checkpoints that are built alike: the names of the layers that an adapter can be put on."""

    name: str
    modules: frozenset[str]


@functools.cache
def architecture(checkpoint: str) -> Architecture | None:
    """The architecture of a checkpoint by its name; None where no one architecture, or more than one, fits."""
    last = checkpoint.lower().rpartition("/")[2]
    found = [
        Architecture(one["name"], frozenset(one["modules"]))
        for one in check_table("models")["architecture"]
        if any(re.search(rf"(?<![a-z]){n}", last) for n in one["names"])
        and not any(re.search(n, last) for n in one.get("not", ()))
    ]
    return found[0] if len(found) == 1 else None


@functools.cache
def pads_right(checkpoint: str) -> bool:
    """Whether the tokenizer of a decoder pads on the right unless it is told otherwise."""
    last = checkpoint.lower().rpartition("/")[2]
    return any(re.search(rf"(?<![a-z]){n}", last) for n in check_table("models")["pads_right"]["names"])
