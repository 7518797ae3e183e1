"""What a case's history amounts to: the case, its approval, its applied patch, its attempts."""

from __future__ import annotations

from dataclasses import dataclass, field

from firstcause.case.approach import Approach
from firstcause.schema import Case, Diagnosis


@dataclass(frozen=True)
class Approval:
    """A person's approval for one diagnosis and one diff, used up when the patch is applied."""

    diagnosis_hash: str
    diff_hash: str
    by: str
    time: str
    answers: dict[str, str]


@dataclass(frozen=True)
class Change:
    """The sha256 of a file before and after a patch."""

    before: str
    after: str


@dataclass(frozen=True)
class Applied:
    """A patch on its way into the files, or in them: each file's hashes, and those of all sources after it.

    ``done`` is False between the announcement and the last file: a crash there is repaired by applying again.
    """

    files: dict[str, Change]
    sources: dict[str, str] = field(default_factory=dict)
    done: bool = False


@dataclass(frozen=True)
class Attempt:
    """A fix that was applied: what it built on, whether it passed (None: never verified), what it taught."""

    approach: Approach
    summary: str
    diff: str
    time: str
    passed: bool | None = None
    lesson: str = ""


@dataclass(frozen=True)
class Remark:
    """A person's reason for a rejection, or the outcome of a try in a copy."""

    time: str
    by: str
    text: str


@dataclass(frozen=True)
class Progress:
    """A case with everything that its history says about it."""

    case: Case
    run_folder: str
    updated: str
    events: int
    first: Diagnosis | None = None
    approval: Approval | None = None
    applied: Applied | None = None
    attempts: tuple[Attempt, ...] = ()
    rejections: tuple[Remark, ...] = ()
    tries: tuple[Remark, ...] = ()
    verification: str = ""
    lesson: str = ""
    recovered: int = 0

    @property
    def failed(self) -> tuple[Attempt, ...]:
        """The attempts whose verification failed: the strikes."""
        return tuple(attempt for attempt in self.attempts if attempt.passed is False)
