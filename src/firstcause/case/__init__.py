"""A failure being worked on, on disk: its states, the gate, approval, strikes, and its retrospective."""

from firstcause.case.applying import apply, apply_by_hand, changed_by_hand
from firstcause.case.approach import LIMIT, Approach, approach_of, same_approach, strikes
from firstcause.case.approval import approve, decline, questions_of, reject
from firstcause.case.classes import LETTERS, MEANING, class_of, has_patch, instructions
from firstcause.case.closing import close
from firstcause.case.codes import Codes
from firstcause.case.event import Event
from firstcause.case.fold import advance, fold, next_step, progress_of
from firstcause.case.folder import CaseFolder, all_cases, find_case, project_of, readable_cases
from firstcause.case.gate import approval_code, diagnosis_hash, diff_hash, require_ready
from firstcause.case.opening import open_case
from firstcause.case.probing import Probe, probes_of
from firstcause.case.progress import Applied, Approval, Attempt, Change, Progress, Remark
from firstcause.case.questions import Question, describe, questions
from firstcause.case.strikeout import counsel, lessons, question, require_other_approach
from firstcause.case.symptoms import Tracked
from firstcause.case.verification import Verification
from firstcause.case.verifying import try_fix, unapproved, verify
from firstcause.case.watching import Difference, sources_of

__all__ = [
    "LETTERS",
    "LIMIT",
    "MEANING",
    "Applied",
    "Approach",
    "Approval",
    "Attempt",
    "CaseFolder",
    "Change",
    "Codes",
    "Difference",
    "Event",
    "Probe",
    "Progress",
    "Question",
    "Remark",
    "Tracked",
    "Verification",
    "advance",
    "all_cases",
    "apply",
    "apply_by_hand",
    "approach_of",
    "approval_code",
    "approve",
    "changed_by_hand",
    "class_of",
    "close",
    "counsel",
    "decline",
    "describe",
    "diagnosis_hash",
    "diff_hash",
    "find_case",
    "fold",
    "has_patch",
    "instructions",
    "lessons",
    "next_step",
    "open_case",
    "probes_of",
    "progress_of",
    "project_of",
    "question",
    "questions",
    "questions_of",
    "readable_cases",
    "reject",
    "require_other_approach",
    "require_ready",
    "same_approach",
    "sources_of",
    "strikes",
    "try_fix",
    "unapproved",
    "verify",
]
