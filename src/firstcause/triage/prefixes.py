"""What launchers, loggers and containers put before a line: taken off, and kept as who wrote it and when."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from firstcause.triage.expressions import expression

# A line's own prefixes are few; more rounds would only help somebody who wants us to be slow.
ROUNDS = 8
JSON_LINE = 1 << 16

_DATE = r"(?:\d{4}[-/]\d{2}[-/]\d{2}|\d{2}[-/]\d{2}[-/]\d{4}|\d{2}-\d{2})"
_TIME = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
_LEVELS = ("DEBUG", "INFO", "NOTICE", "WARN", "ERROR", "CRITICAL", "FATAL")
_LEVEL = r"(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"
_PLACE = r"[\w./<>-]{1,120}:\d{1,6}(?::\w{1,60})?"

_QUOTED = expression(r"(?:> ?){0,8}")
_RANK = expression(
    r"\[(?:rank ?|local_rank:)(\d{1,5})\]:[ ]?|\[(?:default|trainer|worker|node)?(\d{1,5})\]:|\[rank ?(\d{1,5})\][ ]?"
    r"|\[\d{1,3},(\d{1,5})\]<std(?:out|err)>:"
)
_CONTAINER = expression(r"[A-Za-z][\w./-]{0,60}[-_]\d{1,4}[ ]{0,20}\|[ ]?|\[pod/[\w./-]{1,120}\][ ]?")
_PROCESS = expression(
    r"\((?P<role>[\w.:+ -]{1,60}?) ?pid=(?P<pid>\d{1,10})(?:, ip=[\w.:]{1,60})?\)(?:\[repeated [^\]\n]{1,80}\])?[ ]?"
)
_GLOG = expression(
    r"\[?[EWIF]\d{0,4}(?: \d{1,2}:\d{2}:\d{2}\.\d{1,9})?(?: \d{1,9})? (?:[\w./-]{1,120}\.\w{1,4}:\d{1,6})\][ ]?"
)
_STAMP = expression(
    rf"(?P<time>\[?{_DATE}[ T_]{_TIME}(?: TP(?P<tp>\d{{1,3}}))?(?: [A-Z]{{2}}\d{{1,3}})*\]?|\[{_TIME}\])"
    r"(?: std(?:out|err) [FP] |[ ]{0,2}(?:[-|:] )?)"
)
_SYSLOG = expression(
    rf"(?P<time>[A-Z][a-z]{{2}} [ \d]\d {_TIME}) [\w.-]{{1,80}} [\w./-]{{1,60}}(?:\[\d{{1,9}}\])?: "
)
_LOGGER = expression(
    rf"\[?{_LEVEL}\]?(?:[ :-]{{1,3}}{_DATE} {_TIME})?(?:[ :-]{{1,3}}\[?{_PLACE}\]?)?(?: ?[:\]-]|(?<=\]))[ ]?"
    rf"|{_LEVEL}:[\w.]{{1,80}}:|[\w.]{{1,80}} - {_LEVEL} - |\[{_PLACE}\][ ]?|\[(?:c10d|deepspeed|"
    rf"pl|[EWI]|torch[\w.]*)\][ ]?"
)
# The words of vLLM's and Python's loggers: a level, a short date, then the place in brackets or with a colon.
_ENGINE = expression(rf"{_LEVEL} (?:{_DATE} {_TIME})(?: \[?{_PLACE}\]?)?[ ]?")
_TP = expression(r"(?:^|[_ ])(?:TP|tp_rank=)(\d{1,3})\b")
_ROLE_RANK = expression(r"(?:Worker(?:Proc)?|rank)[_ ]?(?:TP|PP|DP)?(\d{1,3})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Origin:
    """Who wrote a line: its rank, process and container; ``stream`` tells interleaved writers apart.

    ``logged`` where a logger put its level or its place before it.
    """

    rank: int | None = None
    pid: int | None = None
    stream: str = ""
    time: str = ""
    logged: bool = False
    tp_rank: int | None = None


NOBODY = Origin()


def stripped(line: str) -> tuple[str, Origin]:
    """A line without its prefixes, and who wrote it."""
    first = line[:1]
    # Prose, code and frames make up most of a paste, and none of them begins like a prefix.
    if first == ">" and not line.startswith(">>> "):
        # Quoted in a mail or an issue.
        line = line[_QUOTED.match(line).end() :]  # type: ignore[union-attr]
        first = line[:1]
    if not first or (
        first not in "[({" and not first.isdigit() and not first.isupper() and "|" not in line[:90]
    ):
        return line, NOBODY
    rank = pid = tp = None
    stream, time, logged, rest = "", "", False, line
    for _ in range(ROUNDS):
        begin = rest[:1]
        levelled = begin in "[DINWECF" and any(level in rest[:120] for level in _LEVELS)
        if begin == "[" and (match := _RANK.match(rest)):
            rank = int(next(found for found in match.groups() if found))
            stream += f" rank {rank}"
        elif begin == "(" and (match := _PROCESS.match(rest)):
            pid, role = int(match["pid"]), match["role"]
            stream += f" {role} {pid}"
            if found := _TP.search(role) or _ROLE_RANK.search(role):
                tp = int(found[1])
        elif (begin == "[" or "|" in rest[:90]) and (match := _CONTAINER.match(rest)):
            stream += " " + match[0].rstrip("| ")
        elif (begin in "[EWIF" and "] " in rest[:200] and (match := _GLOG.match(rest))) or (
            levelled and (match := _ENGINE.match(rest))
        ):
            logged = True
        elif (rest[3:4] == " " and (match := _SYSLOG.match(rest))) or (
            (begin == "[" or begin.isdigit()) and (match := _STAMP.match(rest))
        ):
            time = match["time"].strip("[]")
            if match.groupdict().get("tp"):
                tp = int(match["tp"])
        elif (begin == "[" or any(level in rest[:200] for level in _LEVELS)) and (
            match := _LOGGER.match(rest)
        ):
            logged = True
        else:
            break
        rest = rest[match.end() :]
    if rest is line:
        return line, NOBODY
    return rest, Origin(rank, pid, stream.strip(), time, logged, tp)


def unwrapped(line: str) -> list[tuple[str, int | None]] | None:
    """The lines of text inside a JSON log line, each with its rank; None where the line is none."""
    if not line.startswith("{") or not line.rstrip().endswith("}") or len(line) > JSON_LINE:
        return None
    try:
        values: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict):
        return None
    found = [
        values[key]
        for key in (
            "log",
            "message",
            "msg",
            "text",
            "event",
            "textPayload",
            "exception",
            "exc_info",
            "stack",
            "traceback",
        )
        if isinstance(values.get(key), str)
    ]
    if not found:
        return None
    rank = values.get("rank")
    number = rank if isinstance(rank, int) and not isinstance(rank, bool) else None
    return [(part, number) for text in found for part in text.rstrip("\n").split("\n")]
