"""What a case's history amounts to: the case, its approval, its applied patch, its attempts."""

from __future__ import annotations

from dataclasses import dataclass, field

from firstcause.case.approach import Approach
from firstcause.case.symptoms import Tracked
from firstcause.schema import Case, Diagnosis


@dataclass(frozen=True)
class Approval:
    """A person's approval for one diagnosis and one diff, used up when the patch is applied.

    ``answers`` are those to the gate's questions, ``asked`` the questions as they stood on the screen; ``files``
    are the sha256 of the project's files at that moment.
    """

    diagnosis_hash: str
    diff_hash: str
    by: str
    time: str
    answers: dict[str, str]
    asked: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """The sha256 of a file before and after a patch."""

    before: str
    after: str


@dataclass(frozen=True)
class Applied:
    """A patch on its way into the files, or in them: each file's hashes, and those of all sources as approved.

    Before the patch is in all of its files there are no ``sources``: a crash there is repaired by applying again.
    ``complete`` says that ``sources`` are all watched files, so that one more is a change too.
    """

    files: dict[str, Change]
    sources: dict[str, str] = field(default_factory=dict)
    complete: bool = False


@dataclass(frozen=True)
class Attempt:
    """A fix that was applied: what it built on, whether it passed (None: never verified), what it taught."""

    approach: Approach
    summary: str
    diff: str
    time: str
    passed: bool | None = None
    lesson: str = ""
    approval: Approval | None = None


@dataclass(frozen=True)
class Remark:
    """A person's reason for a rejection, an answer that kept a fix back, or the outcome of a try in a copy."""

    time: str
    by: str
    text: str
    cause: str = ""


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
    symptoms: tuple[Tracked, ...] = ()
    declined: tuple[Remark, ...] = ()
    inherited: tuple[Attempt, ...] = ()

    @property
    def failed(self) -> tuple[Attempt, ...]:
        """The attempts whose verification failed, those of earlier cases of this failure among them: the strikes."""
        mine = tuple(attempt for attempt in self.attempts if attempt.passed is False)
        return (*self.inherited, *mine)

    @property
    def remaining(self) -> tuple[Tracked, ...]:
        """The symptoms that are not gone, the most critical first."""
        return tuple(tracked for tracked in self.symptoms if tracked.outcome != "gone")
