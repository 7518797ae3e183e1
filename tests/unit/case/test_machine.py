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
    Change,
    Verification,
    apply,
    apply_by_hand,
    approve,
    changed_by_hand,
    close,
    decline,
    diagnosis_hash,
    diff_hash,
    find_case,
    fold,
    open_case,
    questions,
    reject,
    try_fix,
    verify,
)
from firstcause.case.history import HISTORY, read
from firstcause.errors import FirstcauseError
from firstcause.schema import Diagnosis, Fix, Hypothesis, Symptom, to_plain

GAP = "# nothing\n" * 12
YES = {"symptom": "y", "scope": "t", "side-effect": "y"}
# cause: (the variable that its fix edits, the intervention behind it). "near" shares a site with
# "first", "again" shares an intervention with "second": two groups of variations.
FIXES = {"first": ("a", ""), "near": ("a", ""), "second": ("b", "warm-up"), "again": ("c", "warm-up")}
GROUP = {"first": 1, "near": 1, "second": 2, "again": 2}
# Its fix has no patch: a person carries it out.
BY_HAND = "learning-rate-too-high"
GROUP[BY_HAND] = 3
CAUSES = sorted(GROUP)
LATER = Symptom("exception", "KeyError: 'eval'", None, 300)


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
        self.failures = {1: 0, 2: 0, 3: 0}
        self.verified = False
        self.raw, self.raw_id = b"", ""
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
        name, intervention = FIXES.get(cause, ("a", ""))
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
            fix=None
            if cause == BY_HAND
            else Fix(cause, diff, f"Fix number {self.counter}.", "It changes.", "It does not fix."),
        )

    def store(self, cause: str, established: bool) -> None:
        self.proposed = self.make(cause, established)
        self.id = open_case(self.root, "r1", str(self.cwd / "run"), self.proposed).id

    @rule(cause=st.sampled_from(CAUSES), established=st.sampled_from([True, True, True, False]))
    def diagnose(self, cause: str, established: bool) -> None:
        before, shown = self.state, self.folder.progress().case.diagnosis
        self.store(cause, established)
        after = self.state
        if before in ("fixed", "verified"):
            assert after == before
        elif before == "approved" and shown and diagnosis_hash(shown) == diagnosis_hash(self.proposed):
            # What is in force already is not approved again; without a patch, nothing tells two of them apart.
            assert after == before
        elif before == "closed":
            self.approved = self.applied = None
            if self.verified:
                # What was fixed once and fails again is another failure.
                self.failures, self.verified = {1: 0, 2: 0, 3: 0}, False
            assert after == self.proposed_state(cause, established)
        else:
            self.approved = None
            kept = before == "stopped" and self.proposed_state(cause, established) != "diagnosed"
            assert after == (before if kept else self.proposed_state(cause, established))

    def proposed_state(self, cause: str, established: bool) -> str:
        if not established:
            return "hypotheses"
        return "diagnosed" if self.failures[GROUP[cause]] < 3 else "stopped"

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
            self.seed_approved = self.unapproved_edit

    @rule()
    def apply(self) -> None:
        good = self.approved is not None
        by_hand = self.approved is not None and self.approved.fix is None
        cwd = str(self.cwd)
        assert self.accepted(lambda: apply(self.folder, cwd, ["data.py"])) is (good and not by_hand)
        (self.cwd / "hand.py").write_text(f"hand = {self.counter}\n") if by_hand else None
        confirm = changed_by_hand(self.folder, cwd) if by_hand else {"train.py": Change("", "")}
        assert self.accepted(lambda: apply_by_hand(self.folder, cwd, confirm, "tester")) is by_hand
        if by_hand:
            # What was confirmed is approved with it.
            self.seed_approved = self.unapproved_edit
            self.applied, self.approved = self.approved, None
        elif self.approved is not None:
            assert (self.cwd / "train.py").read_text() != self.text
            self.text = (self.cwd / "train.py").read_text()
            self.applied, self.approved = self.approved, None

    @rule(passed=st.sampled_from([True, False, False, False]))
    def verify(self, passed: bool) -> None:
        good = self.applied is not None and self.unapproved_edit == self.seed_approved
        result = Verification(passed, "loss 0.02" if passed else "loss nan", {"loss": 0.02})
        assert self.accepted(lambda: verify(self.folder, str(self.cwd), lambda: result)) is good
        if good and self.applied is not None:
            group = GROUP[self.applied.cause or ""]
            self.failures[group] += not passed
            self.applied, self.verified = None, passed
            stopped = self.failures[group] >= 3
            assert self.state == ("verified" if passed else "stopped" if stopped else "hypotheses")
            assert self.folder.progress().case.strikes == (
                max(self.failures.values()) if any(self.failures.values()) else 0
            )

    @rule()
    def verify_with_one_left(self) -> None:
        """The fix holds, and the program fails later in another way: no strike, and not verified either."""
        good = self.applied is not None and self.unapproved_edit == self.seed_approved
        before = self.folder.progress().case.strikes
        values = {"steps": 301, "exit_code": 1, "observed": to_plain([LATER])}
        result = Verification(False, "KeyError: 'eval'", values)
        assert self.accepted(lambda: verify(self.folder, str(self.cwd), lambda: result)) is good
        if good:
            self.applied, self.verified = None, True
            progress = self.folder.progress()
            assert (progress.case.state, progress.case.strikes) == ("hypotheses", before)
            assert LATER in [tracked.symptom for tracked in progress.remaining]

    @rule(answer=st.sampled_from(["n", "b"]))
    def decline(self, answer: str) -> None:
        question = questions(diagnosis())[1]
        state = self.state
        said = self.accepted(lambda: decline(self.folder, question, answer, "tester"))
        assert said is (state == "diagnosed")
        assert self.state == state

    @rule(because=st.sampled_from(["the loss is fine here", " "]))
    def reject(self, because: str) -> None:
        good = self.state in ("diagnosed", "approved", "fixed") and bool(because.strip())
        strikes = self.folder.progress().case.strikes
        assert self.accepted(lambda: reject(self.folder, because, "tester")) is good
        if good:
            self.verified = self.verified and self.applied is None
            self.approved = self.applied = None
            progress = self.folder.progress()
            assert progress.case.strikes == strikes
            assert progress.case.diagnosis is not None
            said = [e.text for h in progress.case.diagnosis.hypotheses for e in h.evidence if not e.supports]
            assert f"tester rejected it: {because}" in said

    @rule(cause=st.sampled_from(CAUSES))
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
        good = good and case.diagnosis.fix is not None  # type: ignore[union-attr]
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
        # Nothing that was written is ever written again.
        raw = (Path(self.folder.path) / HISTORY).read_bytes()
        assert self.raw_id != self.id or raw.startswith(self.raw)
        self.raw, self.raw_id = raw, self.id
        approvals = [e.data["asked"] for e in history if e.event == "approved"]
        assert all(set(asked) == set(YES) for asked in approvals)
        case = fold(history)
        event(case.state)
        event(f"strikes {case.strikes}")
        assert (case.state == "approved") is (self.approved is not None)
        assert (case.state == "fixed") is (self.applied is not None)
        assert case.state == "closed" or find_case(self.root).id == case.id


TestCase = CaseMachine.TestCase
TestCase.settings = settings(max_examples=20, stateful_step_count=20, deadline=None)
