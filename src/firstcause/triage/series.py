"""Series of numbers in what somebody wrote: losses that grow or stand, memory that rises, terms far apart."""

from __future__ import annotations

import dataclasses
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
    r"(?<![a-z])(?<!val )(?<!valid )(?<!validation )(?<!test )(?<!eval_)(?<!val_)(?<!test_)loss(?:es)?\b"
    r"[^\d\n]{0,15}?(?=\d|nan|inf)",
    re.I,
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
    r"|disc\w{0,10}|contrastive|style|content|smooth\w{0,4})(?:[ _](?:loss|term|part))?\s{0,2}"
    r"(?:[=:≈~(]|is|at|of|(?:sits|stays|stands|hovers|lies)(?: at)?)?\s{0,2}"
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
_ANY_SERIES = re.compile(
    r"\b(?:val\w{0,9}|test|eval|dev|train\w{0,5}|acc\w{0,6}|lr|epochs?)\b", re.IGNORECASE
)
_VALIDATION = re.compile(r"\b(?:val|valid|validation|test|eval|dev)[ _-]?loss\b", re.IGNORECASE)
_TRAINING = re.compile(r"\b(?:train|training|tr)[ _-]?loss\b", re.IGNORECASE)
# "train 99 val 60", in percent.
_SCORES = re.compile(
    r"\btrain(?:ing)?(?: acc\w{0,6})?[ :=]{1,3}(\d{2,3}(?:\.\d{1,3})?)\s?%?[ ,;/]{1,3}(?:and )?"
    r"(?:val|valid|validation|test)(?: acc\w{0,6})?[ :=]{1,3}(\d{1,2}(?:\.\d{1,3})?)\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\b(?:accum\w{0,14}(?:[ _]steps)?|world[ _]?size|micro[ -]?batches|ga|gas|grad_accum)\s?[=: ]\s?(\d{1,4})\b"
    r"|\b(\d{1,4})[ -]?(?:x )?(?:gpus?|ranks?|cards?|micro[ -]?batch\w{0,3}|accum\w{0,14})\b",
    re.IGNORECASE,
)
# "accum=1: 2.4": what is measured under a setting.
_AFTER_SETTING = re.compile(r"\w=\d{1,5}: (\d{1,6}\.\d{1,6})\b")
_FROM_TO = re.compile(
    rf"\b(?:loss|grad\w{{0,6}}|norms?)\b[^\d\n]{{0,30}}from ({_NUMBER}) to ({_NUMBER})", re.IGNORECASE
)
_UNIT = r"(ms|s|sec\w{0,4}|min\w{0,4}|h|hours?|days?)\b"
_TIMES = re.compile(rf"from ({_NUMBER})\s?{_UNIT}[^\n.]{{0,30}}? to ({_NUMBER})\s?{_UNIT}", re.IGNORECASE)
_TIME = re.compile(rf"({_NUMBER})\s?{_UNIT}", re.IGNORECASE)
_TURN = re.compile(r"\b(?:epoch|step|iteration|batch)\b", re.IGNORECASE)
# A row of memory without units behind its numbers; the level that it comes back to is the same within so much.
_ROW = re.compile(
    r"\b(?:mem\w{0,12}|alloc\w{0,12}|reserved|vram|ram|rss)\b[^\d\n]{0,40}?"
    r"((?:\d{1,6}(?:\.\d{1,3})?[ ,;/|]{1,3}){3,40}\d{1,6}(?:\.\d{1,3})?)",
    re.IGNORECASE,
)
LEVEL = 1.02
_AT_STEP = re.compile(
    r"(\d{1,6}(?:\.\d{1,3})?)\s?(?:gib|gb|g|mib|mb)?,? (?:at|after|in) (?:the )?"
    r"(?:step|epoch|iteration|hour|day|batch) \d",
    re.IGNORECASE,
)
# A loss around the place where a training went on is the same within so much.
_WENT_ON = re.compile(r"\b(?:resum|restor|reload|continu|restart)\w{0,6}\b", re.IGNORECASE)
CONTINUES = 0.02
_SECONDS = {"m": 60.0, "s": 1.0, "h": 3600.0, "d": 86400.0}
# A time that rises by less is noise.
SLOWER = 1.2
# A loss that grows twentyfold within a few printed values explodes; a thousandfold between terms hides the smaller.
EXPLODES = 20.0
APART = 1000.0
# A validation loss that rises by a fifth over its least, with a training loss of at most half of it, has turned.
RISES, FAR_BELOW = 1.2, 0.5
# Scores in percent: what is known by heart, and how far behind what is not.
WELL_KNOWN, GAP = 85.0, 15.0
# Two losses are apart by a count where their ratio is within three percent of it.
SAME_FACTOR = 0.03
# A loss that ends a twentieth lower falls; a value a fifth above the one before it is noise of small batches.
FALLS, WOBBLES = 0.95, 1.2
# Three values within half a percent are one value.
STANDS = 0.005


def series(prose: str) -> list[Sign]:
    """The patterns that series of numbers show, each with the numbers that show it."""
    text = prose[:MOST]
    return [
        *_losses(text),
        *_metrics(text),
        *_apart(text),
        *_factor(text),
        *_durations(text),
        *_epochs(text),
        *_memory(text),
        *_terms(text),
        *_well(text),
        *_level(text),
        *_continued(text),
    ]


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
    if finite and finite[0] > 0 and any(a == b == 0 for a, b in itertools.pairwise(values)):
        found.append(_sign("loss-zero", f"losses {shown}: exactly 0", text, "loss"))
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


def _metrics(text: str) -> list[Sign]:
    """An error that is printed under its own name, line by line, and stands."""
    for name in ("mse", "mae", "rmse", "nll", "bce", "ppl", "perplexity"):
        rows = re.findall(rf"(?im)^.{{0,60}}\b{name}\b[\"':= ]{{1,4}}({_NUMBER})(?![\d.]*[a-z%])", text)
        values = [float(v) for v in rows[:VALUES]]
        stands = len(values) >= 3 and all(map(math.isfinite, values)) and values[0] > 0
        if stands and max(values) - min(values) <= STANDS * max(values):
            shown = ", ".join(f"{v:g}" for v in values[:6])
            return [_sign("no-learning", f"{name} {shown}: one value", text, name)]
    return []


def _apart(text: str) -> list[Sign]:
    """A validation loss that rises again while the training loss is far below it."""
    for line in text.split("\n"):
        validation = _behind(_VALIDATION, line)
        training = _behind(_TRAINING, line)
        turned = len(validation) >= 2 and validation[-1] >= RISES * min(validation) > 0
        if turned and training and training[-1] <= FAR_BELOW * validation[-1]:
            shown = f"validation {min(validation):g} to {validation[-1]:g}, training {training[-1]:g}"
            return [_sign("overfitting", shown, text, line[:12].lower())]
        if match := _SCORES.search(line):
            train, held_out = float(match[1]), float(match[2])
            if 100 >= train >= WELL_KNOWN and train - held_out >= GAP:
                shown = f"training {train:g}, validation {held_out:g}"
                return [_sign("overfitting", shown, text, line[:12].lower())]
    return []


def _behind(named: re.Pattern[str], line: str) -> list[float]:
    """The numbers behind a name, up to the next name of a series."""
    match = named.search(line)
    if match is None:
        return []
    other = _ANY_SERIES.search(line, match.end())
    part = line[match.end() : other.start() if other else None][:120]
    return [float(n) for n in re.findall(rf"(?<![\w.])({_NUMBER})(?![\d.]*[\w%])", part) if n[-1].isdigit()]


def _factor(text: str) -> list[Sign]:
    """Two losses apart by the very number that the text gives for accumulation, ranks or micro-batches."""
    losses = [v for v in _values(text, _LOSS) if math.isfinite(v) and v > 0][:8]
    losses += [float(n) for n in _AFTER_SETTING.findall(text)][:8]
    for match in _COUNT.finditer(text):
        count = int(match[1] or match[2])
        if count >= 2:
            for one, other in itertools.combinations(losses, 2):
                ratio = max(one, other) / min(one, other) if min(one, other) > 0 else 0.0
                if abs(ratio - count) <= SAME_FACTOR * count and min(one, other) >= 0.01:
                    shown = f"losses {one:g} and {other:g}: apart by {count}, as many as {match[0].strip()}"
                    return [_sign("loss-scale-wrong", shown, text, match[0].lower())]
    return []


def _well(text: str) -> list[Sign]:
    """A training that does well: losses, of training and of validation alike, that fall."""
    loss = _values(text, _LOSS)
    columns = [
        [
            float(n)
            for n in re.findall(rf"(?i)\b{name}\w{{0,7}}[ _=:]{{1,3}}({_NUMBER})(?![\d.]*[a-z%])", text)
        ]
        for name in ("train", "val")
    ]
    series = [row for row in (loss, *columns) if len(row) >= 2]
    for row in series:
        rises = max(b / a for a, b in itertools.pairwise(row)) if min(row) > 0 else 2.0
        if not all(map(math.isfinite, row)) or row[-1] >= FALLS * row[0] or rises > WOBBLES:
            return []
    if not series:
        return []
    shown = ", ".join(f"{v:g}" for v in series[0][:6])
    return [_sign("context:well", f"losses {shown} fall", text, f"{series[0][0]:g}")]


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


def _level(text: str) -> list[Sign]:
    """Memory that goes up and down, and is no higher at the end than in the beginning."""
    for match in _ROW.finditer(text):
        sizes = [float(n) for n in re.findall(r"\d+(?:\.\d+)?", match[1])]
        half = len(sizes) // 2
        if max(sizes[half:]) <= LEVEL * max(sizes[:half]):
            shown = ", ".join(f"{s:g}" for s in sizes[:6])
            return [
                _sign("context:well", f"memory {shown} comes back to its level", text, match[0][:8].lower())
            ]
    for line in text.split("\n"):
        sizes = [float(n) for n in _AT_STEP.findall(line)] if _ABOUT_MEMORY.search(line) else []
        if len(sizes) >= 2 and 0 < max(sizes) <= LEVEL * min(sizes):
            shown = ", ".join(f"{s:g}" for s in sizes[:6])
            return [_sign("context:well", f"memory {shown} stays at its level", text, line[:8].lower())]
    return []


def _continued(text: str) -> list[Sign]:
    """A loss that goes on after a resume where it stood before it."""
    went_on = _WENT_ON.search(text)
    if went_on is None:
        return []
    before, after = (
        [v for v in _values(part, _LOSS) if math.isfinite(v) and v > 0]
        for part in (text[: went_on.start()], text[went_on.end() :])
    )
    if not before or len(after) < 2 or any(abs(v - before[-1]) > CONTINUES * before[-1] for v in after):
        return []
    sign = _sign("context:well", f"loss {before[-1]:g} before, {after[0]:g} after", text, went_on[0].lower())
    # Words for a resume and a loss tell of a gap only where there is one.
    return [
        sign,
        *(dataclasses.replace(sign, label=label, weight=-8.0) for label in ("resume-gap", "no-learning")),
    ]


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
    gone = next((name for name, value in terms.items() if value == 0 and name.startswith("kl")), None)
    if gone and sizes:
        # A KL term of exactly zero: the posterior is the prior, and the other term has all the say.
        return [_sign("loss-imbalance", f"{gone} is 0 beside {max(sizes):g}", text, gone)]
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
