"""Series of numbers in what somebody wrote: losses that grow or stand, memory that rises, terms far apart."""

from __future__ import annotations

import itertools
import math
import re

from firstcause.catalog.wording import word_set
from firstcause.triage.signs import Sign

# What is written by hand is short; a number has at most this many digits.
MOST = 20_000
VALUES = 200
_NUMBER = r"[-+]?\d{1,12}(?:\.\d{1,8})?(?:e[-+]?\d{1,3})?|nan|inf"
# A loss that is no validation's; the numbers behind it are read one by one, so that a long row takes no longer.
_LOSS = re.compile(
    r"(?<![a-z])(?<!val )(?<!valid )(?<!validation )(?<!test )loss(?:es)?\b[^\d\n]{0,15}?(?=\d|nan|inf)", re.I
)
_NORM = re.compile(
    r"\bgrad\w{0,6}[ _-]?norms?\b[^\d\n]{0,20}?(?=\d|nan|inf)|\bgradients?\b[^\d\n]{0,15}?(?=\d|nan|inf)",
    re.I,
)
_NEXT = re.compile(
    rf"(?:\s{{0,3}}[,;/|→]\s{{0,3}}|\s{{0,3}}->\s{{0,3}}|\s{{1,3}})?({_NUMBER})(?![\d.]*[a-z%])",
    re.IGNORECASE,
)
_MEMORY = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s?(gib|gb|g|mib|mb)\b", re.IGNORECASE)
_ABOUT_MEMORY = re.compile(
    r"\b(mem|memory|leaks?|nvidia-smi|vram|ram|rss|alloc\w{0,10}|gpu)\b|memoria|mémoire|speicher|内存|显存|メモリ",
    re.IGNORECASE,
)
_TERM = re.compile(
    r"\b(recon\w{0,12}|kld?|adv\w{0,8}|ce|mse|l1|reg\w{0,10}|commit\w{0,5}|aux\w{0,8}|percep\w{0,8}|lpips|vq|codebook|gan"
    r"|disc\w{0,10}|contrastive|style|content|smooth\w{0,4})(?:[ _]loss)?\s{0,2}(?:[=:≈~(]|is|at|of)?\s{0,2}"
    rf"(?:(?:about|around|approx\.?|roughly|circa|ca\.?|near|~)\s?)?({_NUMBER})",
    re.IGNORECASE,
)
# Words before "loss" that name a part of it, and not when or where it was measured.
_NAMED = re.compile(
    rf"\b([a-z]{{2,14}}) loss(?:es)?\b[^\d\n]{{0,10}}?({_NUMBER})(?![\d.]*[a-z%])", re.IGNORECASE
)
_NO_NAME = word_set(
    """the my our this that its train training val valid validation test eval total mean average epoch step final last
    initial first and of with at in new old same a by then"""
)
_FROM_TO = re.compile(
    rf"\b(?:loss|grad\w{{0,6}}|norms?)\b[^\d\n]{{0,30}}from ({_NUMBER}) to ({_NUMBER})", re.IGNORECASE
)
_UNIT = r"(ms|s|sec\w{0,4}|min\w{0,4}|h|hours?|days?)\b"
_TIMES = re.compile(rf"from ({_NUMBER})\s?{_UNIT}[^\n.]{{0,30}}? to ({_NUMBER})\s?{_UNIT}", re.IGNORECASE)
_TIME = re.compile(rf"({_NUMBER})\s?{_UNIT}", re.IGNORECASE)
_TURN = re.compile(r"\b(?:epoch|step|iteration|batch)\b", re.IGNORECASE)
_SECONDS = {"m": 60.0, "s": 1.0, "h": 3600.0, "d": 86400.0}
# A time that rises by less is noise.
SLOWER = 1.2
# A loss that grows twentyfold within a few printed values explodes; a thousandfold between terms hides the smaller.
EXPLODES = 20.0
APART = 1000.0
# Three values within half a percent are one value.
STANDS = 0.005


def series(prose: str) -> list[Sign]:
    """The patterns that series of numbers show, each with the numbers that show it."""
    text = prose[:MOST]
    return [*_losses(text), *_durations(text), *_epochs(text), *_memory(text), *_terms(text)]


def _losses(text: str) -> list[Sign]:
    for match in _FROM_TO.finditer(text):
        first, last = float(match[1]), float(match[2])
        if first > 0 and math.isfinite(last) and last / first >= EXPLODES:
            return [
                _sign(
                    "gradient-explosion",
                    f"from {match[1]} to {match[2]}: {last / first:.3g} times",
                    text,
                    "from",
                )
            ]
    norms = [v for v in _values(text, _NORM) if math.isfinite(v)]
    if len(norms) >= 3 and norms[0] > 0 and norms[-1] == max(norms) >= EXPLODES * norms[0]:
        shown = ", ".join(f"{v:g}" for v in norms[:6])
        return [_sign("gradient-explosion", f"norms {shown}: {norms[-1] / norms[0]:.3g} times", text, "grad")]
    if len(_named_terms(text)) >= 2:
        return []
    values = _values(text, _LOSS)
    finite = [v for v in values if math.isfinite(v)]
    shown = ", ".join(f"{v:g}" for v in values[:6])
    found = []
    if len(values) >= 3 and not math.isfinite(values[-1]) and finite:
        found.append(_sign("nan-loss", f"losses {shown}", text, "loss"))
    grown = max(finite, default=0.0) / finite[0] if finite and finite[0] > 0 else 0.0
    if len(values) >= 3 and grown >= EXPLODES and finite.index(max(finite)) >= len(finite) // 2:
        found.append(
            _sign("gradient-explosion", f"losses {shown}: {grown:.3g} times the first", text, "loss")
        )
    if (
        len(finite) == len(values) >= 3
        and finite[0] > 0
        and max(finite) - min(finite) <= STANDS * max(finite)
    ):
        found.append(_sign("no-learning", f"losses {shown}: one value", text, "loss"))
    return found


def _values(text: str, named: re.Pattern[str]) -> list[float]:
    values: list[float] = []
    at = 0
    while len(values) < VALUES and (match := named.search(text, at)):
        at = match.end()
        while (number := _NEXT.match(text, at)) and len(values) < VALUES:
            values.append(float(number[1]))
            at = number.end()
    begin = next((at for at, value in enumerate(values) if math.isfinite(value)), 0)
    return values[begin:]


def _durations(text: str) -> list[Sign]:
    for match in _TIMES.finditer(text):
        first, last = (float(match[n]) * _SECONDS[match[n + 1][0].lower()] for n in (1, 3))
        if last >= SLOWER * first > 0:
            return [
                _sign(
                    "slow-training",
                    f"from {match[1]} {match[2]} to {match[3]} {match[4]}: {last / first:.3g} times",
                    text,
                    match[0][:8].lower(),
                )
            ]
    return []


def _epochs(text: str) -> list[Sign]:
    """An epoch or a step that takes longer than one before it, in one line."""
    for line in text.split("\n"):
        if _TURN.search(line):
            times = [
                float(n) * _SECONDS[unit[0].lower()]
                for n, unit in _TIME.findall(line)
                if not unit.lower().startswith("ms")
            ]
            if len(times) >= 2 and len(_TURN.findall(line)) >= 2 and times[-1] >= 1.5 * times[0] > 0:
                return [
                    _sign("slow-training", f"times {times[0]:g} s to {times[-1]:g} s", text, line[:8].lower())
                ]
    return []


def _memory(text: str) -> list[Sign]:
    lines = [line for line in text.split("\n") if _ABOUT_MEMORY.search(line) and _MEMORY.search(line)]
    sizes = []
    for line in lines:
        found = [
            float(number) * (1 if unit.lower().startswith("g") else 1 / 1024)
            for number, unit in _MEMORY.findall(line)
        ]
        if len(lines) == 1 or len(found) == 1:
            sizes += found
    if len(sizes) >= 3 and all(a < b for a, b in itertools.pairwise(sizes)):
        return [_sign("memory-growth", f"memory {', '.join(f'{s:g}' for s in sizes[:6])} GB", text, "mem")]
    return []


def _named_terms(text: str) -> dict[str, float]:
    return {
        match[1].lower(): abs(float(match[2]))
        for match in _NAMED.finditer(text)
        if match[1].lower() not in _NO_NAME and math.isfinite(float(match[2]))
    }


def _terms(text: str) -> list[Sign]:
    terms = _named_terms(text) | {
        match[1].lower(): abs(float(match[2]))
        for match in _TERM.finditer(text)
        if math.isfinite(float(match[2]))
    }
    sizes = [value for value in terms.values() if value > 0]
    if len(sizes) >= 2 and max(sizes) / min(sizes) >= APART:
        shown = ", ".join(f"{name} {value:g}" for name, value in list(terms.items())[:5])
        return [
            _sign(
                "loss-imbalance",
                f"terms {shown}: {max(sizes) / min(sizes):.3g} times apart",
                text,
                next(iter(terms)),
            )
        ]
    return []


def _sign(pattern: str, shown: str, text: str, near: str) -> Sign:
    at = text.lower().find(near)
    line = text.count("\n", 0, max(at, 0)) + 1
    return Sign(
        pattern, 4.0, shown, line, text.split("\n")[line - 1].strip(), frozenset({(-1, at)}), "figures"
    )
