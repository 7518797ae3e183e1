"""Advice known to be wrong: what no fix of the catalogue may recommend, and why not."""

from __future__ import annotations

import re

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
