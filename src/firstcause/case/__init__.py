"""A failure being worked on, on disk: its states, the gate, approval, strikes, and its retrospective."""

from firstcause.case.applying import apply
from firstcause.case.approach import LIMIT, Approach, approach_of, same_approach, strikes
from firstcause.case.approval import approve, reject
from firstcause.case.closing import close
from firstcause.case.event import Event
from firstcause.case.fold import advance, fold, next_step, progress_of
from firstcause.case.folder import CaseFolder, all_cases, find_case, project_of
from firstcause.case.gate import Question, approval_code, diagnosis_hash, diff_hash, questions, require_ready
from firstcause.case.opening import open_case
from firstcause.case.probing import Probe, probes_of
from firstcause.case.progress import Applied, Approval, Attempt, Change, Progress, Remark
from firstcause.case.strikeout import question, require_other_approach
from firstcause.case.verification import Verification
from firstcause.case.verifying import try_fix, verify

__all__ = [
    "LIMIT",
    "Applied",
    "Approach",
    "Approval",
    "Attempt",
    "CaseFolder",
    "Change",
    "Event",
    "Probe",
    "Progress",
    "Question",
    "Remark",
    "Verification",
    "advance",
    "all_cases",
    "apply",
    "approach_of",
    "approval_code",
    "approve",
    "close",
    "diagnosis_hash",
    "diff_hash",
    "find_case",
    "fold",
    "next_step",
    "open_case",
    "probes_of",
    "progress_of",
    "project_of",
    "question",
    "questions",
    "reject",
    "require_other_approach",
    "require_ready",
    "same_approach",
    "strikes",
    "try_fix",
    "verify",
]
