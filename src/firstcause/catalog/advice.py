"""Advice: the closed list of what triage recommends and warns against, and what no fix of the catalogue may recommend."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from firstcause.catalog.words import load_words
from firstcause.errors import KnowledgeError

# Each pattern is tried on one sentence of a fix; a sentence that says "no fix" or "do not" warns and passes.
_IDS = r"\b(ids?|index|indices|indexes|labels?|targets?|tokens?)\b"
_CLAMP = r"\bclamp\w*\b"
_HIDE = r"\btry\b.{0,20}\bexcept\b|\b(skip|ignore|drop) the (failing |bad )?batch\b"
_TWO = r"\b(lower|reduce|smaller)\b.{0,20}\blearning rate\b.{0,30}\b(and|or)\b.{0,20}\bclip"
_WRONG = (
    (f"{_CLAMP}.{{0,40}}{_IDS}|{_IDS}.{{0,40}}{_CLAMP}", "clamped ids or labels silently use a wrong entry"),
    (_HIDE, "hiding the failure leaves its cause in place"),
    (r"\bempty_cache\b", "empty_cache frees what is cached, not what is held"),
    (r"\bretain_graph\s*=\s*True\b", "retain_graph=True keeps the graph whose reuse is the fault"),
    (r"\bstrict\s*=\s*False\b", "strict=False hides the keys that do not match"),
    (_TWO, "two changes at once tell nothing apart"),
    (r"\bnan_to_num\b", "nan_to_num trains on an invented value"),
    (r"\bnum_workers\s*=\s*0\b", "num_workers=0 is a test, not a fix"),
    (r"\bfind_unused_parameters\s*=\s*True\b", "the unused parameters have to be named first"),
    (r"\btorch\.cuda\.amp\b", "torch.cuda.amp is a deprecated alias of torch.amp since torch 2.4"),
)
_WARNS = re.compile(r"\b(no fix|not|never|instead of)\b", re.IGNORECASE)


def wrong_advice(fix: str) -> list[str]:
    """Why parts of this fix are known to be wrong, one sentence each; empty for a fix without such parts."""
    found = []
    for sentence in re.split(r"(?<=[.;:])\s", fix):
        if not _WARNS.search(sentence):
            found += [why for pattern, why in _WRONG if re.search(pattern, sentence, re.IGNORECASE)]
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Advice:
    """An entry of the closed list: what a reader is told, and the patterns or actions that call for it.

    ``several`` entries are for texts with several patterns.
    """

    says: str
    patterns: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    several: bool = False


@dataclass(frozen=True)
class Advices:
    """All advice by its id: what is recommended, what is warned against, the answers to pressure, and the stop-gap."""

    recommended: dict[str, Advice]
    warned: dict[str, Advice]
    answers: dict[str, str]
    stop_gap: dict[str, str]


@functools.cache
def load_advice() -> Advices:
    """The closed list of advice; raises ``KnowledgeError`` where it cannot be used."""
    plain = load_words().advice
    try:
        entries = {
            group: {
                name: Advice(
                    e["says"],
                    tuple(e.get("patterns", ())),
                    tuple(e.get("actions", ())),
                    bool(e.get("several", False)),
                )
                for name, e in plain[group].items()
            }
            for group in ("recommended", "warned")
        }
        return Advices(entries["recommended"], entries["warned"], plain["answers"], plain["stop_gap"])
    except (KeyError, TypeError, AttributeError) as error:
        raise KnowledgeError(
            "advice-invalid", f"advice.toml: {error!r}", "python -m firstcause.catalog.compile"
        ) from error
