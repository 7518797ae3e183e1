"""Gathers the facts of a text: those that its structure tells first, then those of the table of rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from firstcause.schema.triage import Seen
from firstcause.triage.exceptions import exceptions_within
from firstcause.triage.expressions import expression
from firstcause.triage.facts import failures, machines, tensors, trainings
from firstcause.triage.facts.rule import Rule, distinct
from firstcause.triage.frames import is_own
from firstcause.triage.lines import Line
from firstcause.triage.ranks import Ranks, is_waiting
from firstcause.triage.reading import Raised

# So much text is searched for facts; what repeats itself is left out before.
MOST_TEXT = 96 << 10
ALIKE_FIRST, ALIKE_LAST = 3, 2
MESSAGE, SHORT = 600, 240

_RULES: tuple[Rule, ...] = (*failures.RULES, *tensors.RULES, *machines.RULES, *trainings.RULES)
_DIGITS = str.maketrans("123456789", "000000000")
_INDICES = expression(r"did not receive grad for rank \d{1,6}:((?: \d{1,7}){1,400})")
_PLACE = expression(r"(?<![\w./-])(/?(?:[\w.-]{1,80}/){0,10}[\w-]{1,80}\.py):(\d{1,7})\b")
# Named without their folder by py-spy, by loggers and in C++ stacks.
_LIBRARY_FILES = expression(
    r"(?:^|/)(?:_tensor|api|c10d_logger|collate|connection|convert_frame|dataloader|distributed|distributed_c10d|"
    r"eval_frame|fetch|functional|grad_scaler|graph|module|queues|selectors|serialization|threading|worker|pynccl|core|"
    r"serving|engine|loss_scaler|launch|_utils|launcher|elastic_launch|gpu_worker|model_runner|scheduler|stage3|"
    r"stage_1_and_2|runpy)\.py$"
)
_CALL = expression(r"(?:\b|\.)(?:F|functional|torch|nn|_C|_VF|_nn|np|numpy)\.([a-z_]\w{1,60})\(")


def facts_of(
    lines: Sequence[Line], raised: Sequence[Raised], seen: Sequence[Seen], ranks: Ranks, words: str
) -> dict[str, Any]:
    """The facts of a text; ``lines`` are those outside of frames, ``words`` its prose and code."""
    text = _condensed(lines)
    named = [f"{r.exception}: {r.message}" for r in raised if r.exception]
    named += [] if named else [": ".join(words) for words in exceptions_within(text[:MOST_TEXT])]
    errors = "\n".join(map(str, distinct([*named, *(s.text for s in seen)], 60)))
    places = {"all": text, "errors": errors[:MOST_TEXT], "words": words[:MOST_TEXT]}
    folded = {name: part.lower() for name, part in places.items()}
    facts: dict[str, Any] = _of_failure(raised, seen, text)
    for rule in _RULES:
        values = rule.values(places[rule.places], folded[rule.places])
        facts[rule.key] = distinct([*facts.get(rule.key, []), *values])
    facts["gib"] = _memory(text, folded["all"])
    facts["versions"] = _versions(text, folded["all"])
    facts["ranks"] = distinct([*ranks.named, *facts["ranks"]])
    facts["pids"] = distinct(
        [*facts["pids"], *(line.origin.pid for line in lines[:4000] if line.origin.pid is not None)]
    )
    facts["tp_rank"] = distinct(
        [
            *(line.origin.tp_rank for line in lines[:4000] if line.origin.tp_rank is not None),
            *facts["tp_rank"],
        ]
    )
    facts["param_indices"] = distinct(
        [*facts["param_indices"], *(int(i) for match in _INDICES.finditer(text) for i in match[1].split())]
    )
    facts["files"] = [file for file in facts["files"] if is_own(str(file))]
    facts["silent_rank"], facts["origin_rank"] = ranks.silent, ranks.origin
    return {key: value for key, value in facts.items() if value not in ([], {}, None, "")}


def _of_failure(raised: Sequence[Raised], seen: Sequence[Seen], text: str) -> dict[str, Any]:
    named = [r for r in raised if r.exception]
    first = _decisive(named)
    facts: dict[str, Any] = {}
    within = [] if named else exceptions_within(text[:MOST_TEXT])
    if first is not None:
        facts["exception"] = first.exception
        facts["message"] = first.message.split("\n")[0][:MESSAGE] or None
    elif within:
        facts["exception"] = within[0][0]
        facts["message"] = next((message[:MESSAGE] for _, message in within if message), None)
    if not facts.get("message") and seen:
        facts["message"] = seen[0].text
    others = distinct([r.exception for r in named] + [name for name, _ in within], 8)
    facts["exceptions"] = others if len(others) > 1 else None
    told = [r.message.split("\n")[0][:SHORT] for r in named] + [message.text[:SHORT] for message in seen]
    facts["messages"] = [text for text in distinct(told, 8) if str(text) not in str(facts.get("message"))]
    frames = _own_places(raised, first)
    said = [f"{match[1]}:{match[2]}" for match in _PLACE.finditer(text) if _may_be_own(match[1])]
    facts["user_frame"] = (
        frames[0] if frames else next((place for place in said if "/" in place or not raised), None)
    )
    facts["frames"] = distinct(frames[1:] + [place for place in said if place not in frames], 12)
    facts["op"] = _ops(named)
    facts["worker"] = [r.worker for r in raised if r.worker is not None]
    facts["keys"], facts["prefix"] = _keys(named)
    return facts


def _may_be_own(file: str) -> bool:
    return is_own(file) and _LIBRARY_FILES.search(file) is None


def _decisive(named: Sequence[Raised]) -> Raised | None:
    """The exception that failed, not one that waited or wrapped."""
    inner = [r for r in named if r.cause == 0] or list(named)
    own = [r for r in inner if not is_waiting(f"{r.exception}: {r.message}")] or inner
    return min(own, key=lambda r: r.line) if own else None


def _own_places(raised: Sequence[Raised], first: Raised | None) -> list[str]:
    chain = sorted(
        raised, key=lambda r: (r is not first, r.rank != (first.rank if first else None), r.cause, r.line)
    )
    return [
        str(place)
        for place in distinct([f"{f.file}:{f.line}" for r in chain for f in reversed(r.frames) if f.own], 13)
    ]


def _ops(named: Sequence[Raised]) -> list[str | int]:
    found: list[str] = []
    for exception in named:
        for frame in exception.frames[-2:]:
            found += _CALL.findall(frame.source)
            if frame.file.replace("\\", "/").endswith("torch/nn/functional.py"):
                found.append(frame.function)
    return distinct(found, 6)


_LISTED = expression(r"(Missing|Unexpected) key\(s\) in state_dict: ((?:\"[^\"\n]{1,200}\"(?:, )?){1,400})")


def _keys(named: Sequence[Raised]) -> tuple[list[str | int], str | None]:
    """The keys that a state dict lacks or has too many, and the prefix by which they differ."""
    lists: dict[str, list[str]] = {"Missing": [], "Unexpected": []}
    for exception in named:
        for match in _LISTED.finditer(exception.message[: 1 << 16]):
            lists[match[1]] += re.findall(r"\"([^\"]+)\"", match[2])
    missing, unexpected = lists["Missing"], lists["Unexpected"]
    prefix = None
    if missing and unexpected:
        for longer, shorter in ((unexpected[0], missing), (missing[0], unexpected)):
            short = next((key for key in shorter if longer.endswith("." + key)), None)
            if short:
                prefix = longer[: -len(short)]
    return distinct([*missing[:6], *unexpected[:6]]), prefix


def _memory(text: str, folded: str) -> dict[str, str | int]:
    found: dict[str, str | int] = {}
    for rule in tensors.MEMORY:
        for value in rule.values(text, folded):
            found.setdefault(rule.key, value)
            break
    return found


def _versions(text: str, folded: str) -> dict[str, str]:
    found: dict[str, str] = {}
    if not re.search(r"\d\.\d|cuda \d|python \d", folded):
        return found
    for pattern in (machines.VERSION, machines.WHOLE_VERSION):
        for match in re.finditer(pattern, text, re.IGNORECASE):
            name = re.sub(r"[-_ ]", "-", match[1].lower())
            found.setdefault({"pytorch": "torch", "pytorch-lightning": "lightning"}.get(name, name), match[2])
    return dict(list(found.items())[:16])


def _condensed(lines: Sequence[Line]) -> str:
    """The text of lines, without most of those that differ from others by their numbers alone."""
    alike: dict[str, list[int]] = {}
    for at, line in enumerate(lines):
        alike.setdefault(line.text[:200].translate(_DIGITS), []).append(at)
    kept = sorted(at for places in alike.values() for at in {*places[:ALIKE_FIRST], *places[-ALIKE_LAST:]})
    text = "\n".join(lines[at].text[:4000] for at in kept)
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT // 2] + "\n" + text[-MOST_TEXT // 2 :]
