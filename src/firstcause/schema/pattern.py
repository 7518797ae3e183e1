"""An error or symptom as people meet it: how it is worded, who looks at it first, what it is mistaken for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """One wording of an error message, as its source prints it.

    ``text`` is the message with what varies in braces: {int}, {float}, {size}, {shape}, {dtype}, {device}, {scalar} and
    {type} (a C++ type, a class of tensors), {class} (a class, no builtin one), {otherwise} (a CUDA error that no other
    pattern names), {name} (one word), {any} (up to 200 characters of one line), {lines} (up to 400 characters, line
    breaks included). Everything else is literal, and a run of spaces matches any white space. ``versions`` says which
    releases word it so.
    """

    text: str
    versions: str = ""
    source: str = ""


@dataclass(frozen=True)
class Pattern:
    """A pattern of the catalogue: its first specialist, its wordings, its rank among several, what it leads to.

    ``criticality`` is 1 for invalid data or memory access, 2 wrong numbers, 3 loading, 4 resources, 5 waiting, 6 speed.
    A ``wrapper`` reports another failure and stands behind it. ``causes`` are slugs of the catalogue, the likeliest
    first; ``gather`` is the evidence to gather, the cheapest first, each with the command that gives it. ``examples``
    must match and ``look_alike_texts`` must not; ``look_alikes`` are the patterns that those belong to.
    """

    slug: str
    title: str
    specialist: str
    definition: str
    criticality: int
    causes: tuple[str, ...]
    gather: tuple[str, ...]
    do_not: tuple[str, ...] = ()
    look_alikes: tuple[str, ...] = ()
    wrapper: bool = False
    messages: tuple[Message, ...] = ()
    examples: tuple[str, ...] = ()
    look_alike_texts: tuple[str, ...] = ()
