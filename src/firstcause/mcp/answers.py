"""What the tools answer: one shape a kind of answer, at most 8 kB, with pointers and one next step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

# What a model reads of one answer, in bytes of JSON.
LARGEST = 8192
# Texts and lists below these sizes are not shortened: they are names, places and commands.
_SHORT_TEXT = 160
_SHORT_LIST = 2
# Without these nobody could go on.
_WHOLE = ("next", "allowed", "cut", "case", "state")


class Step(BaseModel):
    """The one next step: a tool with its arguments, or, where only a person may act, what the person types."""

    tool: str = Field(default="", description="the tool to call next; empty where a person has to act")
    arguments: dict[str, Any] = Field(default_factory=dict)
    person: str = Field(default="", description="what a person does or types; a model cannot do it")
    why: str = ""


class Answer(BaseModel):
    """What every answer has: what was found, the next step, files with more, and the time that it took."""

    said: str
    next: Step
    pointers: list[str] = Field(default_factory=list, description="files with the whole of what is cut here")
    seconds: float = Field(default=0.0, description="wall time that this call took")
    budget_seconds: float = Field(
        default=0.0, description="wall time that it was allowed; 0 where it runs nothing"
    )
    cut: list[str] = Field(default_factory=list, description="the fields that were shortened to fit")


class Ranked(BaseModel):
    """A hypothesis of a case: its rank, its status, the facts for and against it, what would settle it."""

    cause: str
    rank: int
    status: str
    site: str = ""
    supporting: list[str] = Field(default_factory=list)
    against: list[str] = Field(default_factory=list)
    missing: str = ""


class CaseAnswer(Answer):
    """Where a case stands: enough to go on with after everything else was forgotten."""

    case: str
    state: str
    allowed: list[str] = Field(
        description="the tools that this state allows; triage, check_code, explain and minimize always"
    )
    strikes: int = 0
    symptom: str = ""
    established: bool = False
    cause: str = ""
    site: str = ""
    missing: str = ""
    hypotheses: list[Ranked] = Field(default_factory=list)
    sections: dict[str, str] = Field(default_factory=dict)
    fix: str = ""
    diff: str = ""
    diff_sha256: str = ""
    counsel: list[str] = Field(default_factory=list, description="what the last strike asks for")
    measured: str = Field(default="", description="what this call measured or ran")


class TriageAnswer(Answer):
    """The first step for a text: never a cause."""

    action: str
    routes: list[str]
    patterns: list[str]
    suspicions: list[dict[str, str]]
    gather: list[str]
    question: str = ""


class CheckAnswer(Answer):
    """What reading the code found."""

    errors: int
    findings: list[dict[str, Any]]
    notes: list[str]


class MinimalAnswer(Answer):
    """A script of a few lines that fails as the run did."""

    script: str
    lines: int


class PageAnswer(Answer):
    """A page of the catalogue."""

    page: str


Kind = TypeVar("Kind", bound=Answer)


def given(answer: Answer) -> CallToolResult:
    """The answer as the protocol carries it: structured, and the same as text, each at most ``LARGEST`` bytes."""
    # Python's own dump, not the model's: a file name that is no UTF-8 must not break the answer.
    plain = fitted(_whole_text(answer.model_dump()))
    return CallToolResult(content=[TextContent(type="text", text=text_of(plain))], structured_content=plain)


def _whole_text(plain: dict[str, Any]) -> dict[str, Any]:
    """The same values with what UTF-8 cannot hold replaced."""
    encoded = json.dumps(plain, ensure_ascii=False, default=str).encode("utf-8", "replace")
    whole: dict[str, Any] = json.loads(encoded)
    return whole


def text_of(plain: dict[str, Any]) -> str:
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def fitted(plain: dict[str, Any], largest: int = LARGEST) -> dict[str, Any]:
    """The same answer, its long texts and then its long lists shortened step by step until it fits; ``cut`` names them."""
    for longest in (4000, 2000, 1000, 500, 250, _SHORT_TEXT):
        if _size(plain) <= largest:
            return plain
        _shorten(plain, str, longest)
    for most in (40, 20, 10, 5, _SHORT_LIST, 1, 0):
        if _size(plain) <= largest:
            return plain
        _shorten(plain, list, most)
    return plain


def _shorten(plain: dict[str, Any], kind: type[str] | type[list[Any]], size: int) -> None:
    """Cut every text, or every list, that is longer than a size."""
    for name, holder, key in list(_places(plain)):
        value: Any = holder[key]
        if isinstance(value, kind) and len(value) > size:
            holder[key] = f"{value[:size].rstrip()} …" if isinstance(value, str) else value[:size]
            if name not in plain["cut"]:
                plain["cut"].append(name)


def _size(plain: dict[str, Any]) -> int:
    return len(text_of(plain).encode("utf-8", "replace"))


def _places(value: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every text and list: the field that it belongs to, what holds it, and its key there."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        field = name or str(key)
        if field in _WHOLE:
            continue
        if isinstance(one, (str, list)):
            yield field, value, key
        if isinstance(one, (dict, list)):
            yield from _places(one, field)
