"""The vocabulary: frozen dataclasses, their construction and their plain form; no torch, no files."""

from firstcause.plain import to_plain
from firstcause.schema.case import CASE_SCHEMA, Case, State
from firstcause.schema.cause import Cause
from firstcause.schema.codec import from_plain
from firstcause.schema.diagnosis import SECTIONS, Diagnosis, DiagnosisStatus
from firstcause.schema.evidence import Evidence, EvidenceKind
from firstcause.schema.expectation import Expectation
from firstcause.schema.finding import Category, Finding
from firstcause.schema.fix import Fix
from firstcause.schema.hypothesis import Hypothesis, HypothesisStatus
from firstcause.schema.instruction import Instruction
from firstcause.schema.pattern import Message, Pattern
from firstcause.schema.run import RUN_SCHEMA, Run
from firstcause.schema.site import Site
from firstcause.schema.symptom import Symptom, SymptomKind
from firstcause.schema.triage import Action, Seen, Suspicion, Triage

__all__ = [
    "CASE_SCHEMA",
    "RUN_SCHEMA",
    "SECTIONS",
    "Action",
    "Case",
    "Category",
    "Cause",
    "Diagnosis",
    "DiagnosisStatus",
    "Evidence",
    "EvidenceKind",
    "Expectation",
    "Finding",
    "Fix",
    "Hypothesis",
    "HypothesisStatus",
    "Instruction",
    "Message",
    "Pattern",
    "Run",
    "Seen",
    "Site",
    "State",
    "Suspicion",
    "Symptom",
    "SymptomKind",
    "Triage",
    "from_plain",
    "to_plain",
]
