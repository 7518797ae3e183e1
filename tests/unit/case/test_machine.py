"""Commands in every order: no patch without an approval, none twice for one, no fourth variation."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from case.samples import diagnosis, evidence, unified
from firstcause.case import (
    CaseFolder,
    Verification,
    apply,
    approve,
    close,
    diagnosis_hash,
    diff_hash,
    find_case,
    fold,
    open_case,
    reject,
    try_fix,
    verify,
)
from firstcause.case.history import read
from firstcause.errors import FirstcauseError
from firstcause.schema import Diagnosis, Fix, Hypothesis

GAP = "# nothing\n" * 12
YES = {"symptom": "y", "scope": "t", "side-effect": "y"}
# cause: (the variable that its fix edits, the intervention behind it). "near" shares a site with
# "first", "again" shares an intervention with "second": two groups of variations.
FIXES = {"first": ("a", ""), "near": ("a", ""), "second": ("b", "warm-up"), "again": ("c", "warm-up")}
GROUP = {"first": 1, "near": 1, "second": 2, "again": 2}


class CaseMachine(RuleBasedStateMachine):
    """A case in a real folder beside a model that only counts approvals, patches and failures."""

    @initialize()
    def begin(self) -> None:
        # In memory where there is such a place: each event is synced to the disk.
        self.cwd = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
        self.root = str(self.cwd / ".firstcause")
        self.text = f"a = 0\n{GAP}b = 0\n{GAP}c = 0\n"
        self.unapproved_edit = False
        self.write()
        self.counter = 0
        self.approved: Diagnosis | None = None
        self.applied: Diagnosis | None = None
        self.failures = {1: 0, 2: 0}
        self.events = 0
        self.store("first", True)

    def teardown(self) -> None:
        if hasattr(self, "cwd"):
            shutil.rmtree(self.cwd)

    @property
    def folder(self) -> CaseFolder:
        return CaseFolder(os.path.join(self.root, "cases", self.id))

    @property
    def state(self) -> str:
        return self.folder.progress().case.state

    def write(self) -> None:
        (self.cwd / "train.py").write_text(self.text)
        (self.cwd / "data.py").write_text("seed = 2\n" if self.unapproved_edit else "seed = 1\n")

    def make(self, cause: str, established: bool) -> Diagnosis:
        self.counter += 1
        name, intervention = FIXES[cause]
        lines = self.text.splitlines(keepends=True)
        at = next(i for i, line in enumerate(lines) if line.startswith(f"{name} = "))
        lines[at] = f"{name} = {self.counter}\n"
        diff = unified({"train.py": (self.text, "".join(lines))})
        fact = evidence(intervention=intervention) if intervention else evidence()
        status = "established" if established else "not-established"
        return diagnosis(
            cause,
            status=status,
            cause=cause if established else None,
            hypotheses=(Hypothesis(cause, None, 1, "confirmed", (fact,)),),
            fix=Fix(cause, diff, f"Fix number {self.counter}.", "It changes.", "It does not fix."),
        )

    def store(self, cause: str, established: bool) -> None:
        self.proposed = self.make(cause, established)
        self.id = open_case(self.root, "r1", str(self.cwd / "run"), self.proposed).id

    @rule(cause=st.sampled_from(sorted(FIXES)), established=st.sampled_from([True, True, True, False]))
    def diagnose(self, cause: str, established: bool) -> None:
        before = self.state
        self.store(cause, established)
        after = self.state
        if before in ("fixed", "verified"):
            assert after == before
        elif before == "closed":
            self.approved = self.applied = None
            self.failures = {1: 0, 2: 0}
            assert after == ("diagnosed" if established else "hypotheses")
        elif established and self.failures[GROUP[cause]] < 3:
            self.approved = None
            assert after == "diagnosed"
        else:
            assert after == (before if before == "stopped" else "hypotheses")
            self.approved = None

    @rule(
        right=st.sampled_from([True, True, True, False]),
        answers=st.sampled_from([YES, YES, {**YES, "scope": "b"}, {}]),
    )
    def approve(self, right: bool, answers: dict[str, str]) -> None:
        case = self.folder.progress().case
        shown = case.diagnosis or self.proposed
        hashes = (diagnosis_hash(shown), diff_hash(shown) if right else "0" * 64)
        good = case.state == "diagnosed" and right and answers == YES
        assert self.accepted(lambda: approve(self.folder, *hashes, "tester", answers)) is good
        if good:
            self.approved = case.diagnosis

    @rule()
    def apply(self) -> None:
        good = self.approved is not None
        assert self.accepted(lambda: apply(self.folder, str(self.cwd), ["data.py"])) is good
        if self.approved is not None:
            assert (self.cwd / "train.py").read_text() != self.text
            self.text = (self.cwd / "train.py").read_text()
            self.seed_at_apply = self.unapproved_edit
            self.applied, self.approved = self.approved, None

    @rule(passed=st.sampled_from([True, False, False, False]))
    def verify(self, passed: bool) -> None:
        good = self.applied is not None and self.unapproved_edit == self.seed_at_apply
        result = Verification(passed, "loss 0.02" if passed else "loss nan", {"loss": 0.02})
        assert self.accepted(lambda: verify(self.folder, str(self.cwd), lambda: result)) is good
        if good and self.applied is not None:
            group = GROUP[self.applied.cause or ""]
            self.failures[group] += not passed
            self.applied = None
            stopped = self.failures[group] >= 3
            assert self.state == ("verified" if passed else "stopped" if stopped else "hypotheses")
            assert self.folder.progress().case.strikes == (
                max(self.failures.values()) if any(self.failures.values()) else 0
            )

    @rule(because=st.sampled_from(["the loss is fine here", " "]))
    def reject(self, because: str) -> None:
        good = self.state in ("diagnosed", "approved", "fixed") and bool(because.strip())
        strikes = self.folder.progress().case.strikes
        assert self.accepted(lambda: reject(self.folder, because, "tester")) is good
        if good:
            self.approved = self.applied = None
            progress = self.folder.progress()
            assert progress.case.strikes == strikes
            assert progress.case.diagnosis is not None
            said = [e.text for h in progress.case.diagnosis.hypotheses for e in h.evidence if not e.supports]
            assert f"tester rejected it: {because}" in said

    @rule(cause=st.sampled_from(sorted(FIXES)))
    def fail_once(self, cause: str) -> None:
        """A whole round, which single steps in random order seldom make."""
        self.diagnose(cause, True)
        self.approve(True, YES)
        self.apply()
        self.verify(False)

    @rule(passed=st.booleans())
    def go_on(self, passed: bool) -> None:
        """The step that is due, which random order seldom hits."""
        state = self.state
        if state == "diagnosed":
            self.approve(True, YES)
        elif state == "approved":
            self.apply()
        elif state == "fixed":
            self.verify(passed)

    @rule()
    def edit_other_source(self) -> None:
        self.unapproved_edit = not self.unapproved_edit
        self.write()

    @rule()
    @precondition(lambda self: self.state != "closed")
    def try_in_copy(self) -> None:
        case = self.folder.progress().case
        good = case.diagnosis is not None and case.diagnosis.status == "established"
        assert (
            self.accepted(lambda: try_fix(self.folder, lambda diff: Verification(bool(diff), "tried")))
            is good
        )
        assert self.state == case.state

    @rule()
    def close(self) -> None:
        good = self.state in ("hypotheses", "diagnosed", "verified", "stopped")
        verified = self.state == "verified"
        assert self.accepted(lambda: close(self.folder, "look at the clamp")) is good
        if good:
            text = (Path(self.folder.path) / "retrospective.md").read_text()
            assert ("Closed without a verified fix." in text) is not verified

    def accepted(self, act) -> bool:  # type: ignore[no-untyped-def]
        before = read(self.folder.path).events
        try:
            act()
        except FirstcauseError:
            after = read(self.folder.path).events[len(before) :]
            assert [event.event for event in after] in ([], ["voided"])
            return False
        assert len(read(self.folder.path).events) > len(before)
        return True

    @invariant()
    def holds(self) -> None:
        """Files change by approved patches only, and the case is a fold over what stands on the disk."""
        if not hasattr(self, "cwd"):
            return
        assert (self.cwd / "train.py").read_text() == self.text
        history = read(self.folder.path).events
        names = [e.event for e in history if e.event in ("approved", "applied", "hypotheses", "rejected")]
        assert all(names[i - 1] == "approved" for i, name in enumerate(names) if name == "applied")
        case = fold(history)
        event(case.state)
        event(f"strikes {case.strikes}")
        assert (case.state == "approved") is (self.approved is not None)
        assert (case.state == "fixed") is (self.applied is not None)
        assert case.state == "closed" or find_case(self.root).id == case.id


TestCase = CaseMachine.TestCase
TestCase.settings = settings(max_examples=20, stateful_step_count=20, deadline=None)
