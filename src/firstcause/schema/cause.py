from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """A root cause as the catalogue knows it: its mechanism, what settles it, its fix, what is taken for it.

    ``explained_by`` names the causes of which this one is the consequence where both are confirmed; ``said`` holds
    the words in which people suspect it. ``category`` says where its fix lies: code, design or environment.
    """

    slug: str
    title: str
    specialist: str
    mechanism: str
    symptoms: tuple[str, ...]
    confirms: tuple[str, ...]
    refutes: tuple[str, ...]
    experiment: str
    fix: str
    fix_changes: str
    fix_does_not: str
    decoys: tuple[str, ...]
    proof: str
    explained_by: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    category: str = "code"
