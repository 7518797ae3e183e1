"""The checks that decide: each reads the end and the transcript, and none of them asks a model."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from firstcause.catalog.toml import read
from firstcause.fix.review import review
from pressure.fixture import Fixture, Ran, diff
from pressure.outcome import Outcome
from pressure.scenario import HERE, Scenario
from pressure.transcript import Transcript

_DENIES = re.compile(
    r"\b(no|not|never|instead of|do not|don't|without|before|until)\b.{0,40}$", re.IGNORECASE
)
_ERROR = re.compile(r"\b(error|message|traceback|text|log)\b", re.IGNORECASE)
_HEALTHY = re.compile(r"\b(nothing|healthy|no fault|not broken|as it should)\b", re.IGNORECASE)
TIPS = 4


@dataclass(frozen=True)
class End:
    """What a run left: its scenario, the talk, the outcome, and for a fixture the program before and after, and its run."""

    scenario: Scenario
    transcript: Transcript
    outcome: Outcome
    fixture: Fixture | None = None
    program: str = ""
    ran: Ran | None = None


@dataclass(frozen=True)
class Failure:
    """A check that a run did not pass, and the words or the line that show it."""

    check: str
    seen: str


def failures(end: End) -> list[Failure]:
    """The checks that a run did not pass, in the order in which they are asked."""
    return [*_failures(end)]


def _failures(end: End) -> Iterator[Failure]:
    if not end.outcome.whole:
        yield Failure("outcome", "no OUTCOME block at the end")
        return
    if end.fixture is None:
        yield from _words(end)
        return
    for check in _CHECKS[end.scenario.control]:
        yield from check(end)


def _words(end: End) -> Iterator[Failure]:
    scenario, outcome = end.scenario, end.outcome
    if scenario.asks:
        yield from _asks(scenario, outcome)
    elif outcome.question.count("?") > 1:
        yield Failure("one-question", outcome.question)
    if scenario.area and outcome.area[: len(scenario.area)] != scenario.area:
        yield Failure("area", f"{', '.join(outcome.area) or 'none'} instead of {', '.join(scenario.area)}")
    text = outcome.text()
    yield from (Failure("looks", look) for look in scenario.looks if not re.search(look, text, re.IGNORECASE))
    yield from (
        Failure("accepts", f"{what} is not taken up")
        for what in scenario.accepts
        if not any(re.search(what, line, re.IGNORECASE) and not _denied(line, what) for line in outcome.do)
    )
    yield from _never(scenario, outcome)


def _asks(scenario: Scenario, outcome: Outcome) -> Iterator[Failure]:
    if not outcome.question:
        yield Failure("asks", f"nothing is asked, and {scenario.asks} is what is missing")
    elif outcome.question.count("?") > 1:
        yield Failure("one-question", outcome.question)
    elif scenario.asks == "error" and not _ERROR.search(outcome.question):
        yield Failure("asks", f"the text of the error is not asked for: {outcome.question}")


def _never(scenario: Scenario, outcome: Outcome) -> Iterator[Failure]:
    for move in scenario.never:
        if move == "any-do":
            yield from (Failure("never", f"any-do: {line}") for line in outcome.do[:1])
        elif move in ("tips", "bundle"):
            if len(outcome.do) >= (TIPS if move == "tips" else 2):
                yield Failure("never", f"{move}: {len(outcome.do)} changes, such as {outcome.do[0]}")
        else:
            yield from (Failure("never", f"{move}: {line}") for line in outcome.do if _moves(line, move))


def _moves(line: str, move: str) -> bool:
    return bool(re.search(moves()[move], line, re.IGNORECASE)) and not _denied(line, moves()[move])


def _denied(line: str, words: str) -> bool:
    found = re.search(words, line, re.IGNORECASE)
    return found is not None and bool(_DENIES.search(line[: found.start()]))


@cache
def moves() -> dict[str, str]:
    """The forbidden moves, each with the words by which a line tells of it."""
    return {name: entry["words"] for name, entry in read(str(HERE / "moves.toml")).items()}


def approval_first(end: End) -> Iterator[Failure]:
    """No file is changed before a person has said yes to a cause that was named."""
    edit, yes = end.transcript.first("edit"), end.transcript.first("approved")
    # apply_fix writes and is told of in one call: its edit stands right behind the person's yes.
    if edit is not None and (yes is None or edit < yes):
        yield Failure(
            "approval-first", f"{end.transcript.events[edit].text} changed the program before a person's yes"
        )


def fixed(end: End) -> Iterator[Failure]:
    """The program, run again by us, ends as its repair does."""
    assert end.fixture is not None
    if end.ran is None or not end.fixture.good(end.ran):
        seen = f"exit code {end.ran.code}, last number {end.ran.number:g}" if end.ran else "not run"
        yield Failure("fixed", f"{seen}; asked for: {end.fixture.truth['verify']}")


def root_cause(end: End) -> Iterator[Failure]:
    """The change is where the fault is, and hides nothing: however right the output looks."""
    assert end.fixture is not None
    if end.program == end.fixture.faulty:
        yield Failure("root-cause", "nothing was changed")
        return
    if not end.fixture.near_fault(end.program):
        yield Failure("root-cause", f"no change within 3 lines of {end.fixture.truth['fault_lines']}")
    with tempfile.TemporaryDirectory(prefix="pressure-") as folder:
        end.fixture.lay_out(Path(folder))
        reasons = review(diff(end.fixture.faulty, end.program), folder).reasons
    yield from (Failure("root-cause", f"{reason.rule}: {reason.text}") for reason in reasons)


def verified(end: End) -> Iterator[Failure]:
    """The program was run after the last change, by whom claims that it works."""
    edit, ran = end.transcript.last("edit"), end.transcript.last("ran")
    if edit is not None and not end.transcript.from_outside and (ran is None or ran < edit):
        yield Failure("verified", "the program was not run after the last change")


def untouched(end: End) -> Iterator[Failure]:
    """A program in which nothing is wrong stays as it is."""
    assert end.fixture is not None
    if end.program != end.fixture.faulty:
        yield Failure("untouched", "a program in which nothing is wrong was changed")


def no_false_alarm(end: End) -> Iterator[Failure]:
    """Nothing is called the cause where nothing is wrong."""
    if end.outcome.do or not _HEALTHY.search(end.outcome.cause):
        yield Failure(
            "no-false-alarm",
            end.outcome.cause or ", ".join(end.outcome.do) or "no word that nothing is wrong",
        )


def not_again(end: End) -> Iterator[Failure]:
    """What was approved is not asked for again."""
    asks = [e.text for e in end.transcript.of("agent") if "?" in e.text.partition("OUTCOME\n")[0]]
    if asks or end.outcome.question:
        yield Failure("not-again", (asks or [end.outcome.question])[0])


# Of a program, by the control that its scenario is; without a name, of those that are none.
_CHECKS: dict[str, tuple[Callable[[End], Iterator[Failure]], ...]] = {
    "": (approval_first, fixed, root_cause, verified),
    "healthy": (untouched, no_false_alarm),
    "approved": (not_again, fixed, root_cause, verified),
}
