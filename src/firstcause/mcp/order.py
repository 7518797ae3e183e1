"""The order of a case's steps as tools: what each state allows, what a tool waits for, and the call that comes next."""

from __future__ import annotations

from firstcause.case import Progress, has_patch, next_step
from firstcause.mcp.answers import Step

# Tools that ask or read, and change no case that is on its way: always allowed.
FREE = ("triage", "check_code", "open_case", "case_status", "minimize", "explain")
# The tools of the gate, and the states in which each may be called.
STATES: dict[str, tuple[str, ...]] = {
    "run_probe": ("open", "characterised", "hypotheses", "diagnosed", "stopped"),
    "add_evidence": ("hypotheses", "diagnosed"),
    "propose_diagnosis": ("hypotheses", "diagnosed"),
    "request_approval": ("diagnosed",),
    "apply_fix": ("approved",),
    "verify_fix": ("fixed",),
}
# What a tool waits for, in words.
NEEDS = {
    "run_probe": "a case whose fix is neither approved nor applied",
    "add_evidence": "hypotheses, and no fix that is approved or applied",
    "propose_diagnosis": "hypotheses that a replay or an experiment has settled, and no fix that is approved or applied",
    "request_approval": "a proposed diagnosis: an established cause, its six sections and its fix",
    "apply_fix": "a person's approval of this diagnosis and this diff",
    "verify_fix": "an approved fix that apply_fix has applied",
}
_TOOL_OF = {
    "firstcause case approve": "request_approval",
    "firstcause case apply": "apply_fix",
    "firstcause case verify": "verify_fix",
    "firstcause case show": "case_status",
    "firstcause case list": "case_status",
    "firstcause diagnose": "open_case",
    "firstcause run": "open_case",
    "firstcause explain": "explain",
}


def allowed(state: str) -> list[str]:
    """The tools of the gate that a state allows."""
    return [tool for tool, states in STATES.items() if state in states]


def following(progress: Progress) -> Step:
    """The one call, or the person's act, that takes a case further."""
    case, arguments = progress.case, {"case": progress.case.id}
    diagnosis = case.diagnosis
    if case.state == "diagnosed":
        return Step(tool="request_approval", arguments=arguments, why="a person approves; no tool can")
    if case.state == "approved":
        if diagnosis is not None and not has_patch(diagnosis):
            return Step(
                person=f"firstcause case apply {case.id}", why="this fix is made by hand, and confirmed"
            )
        return Step(tool="apply_fix", arguments=arguments, why="the approved diff, and no other, is applied")
    if case.state == "fixed":
        return Step(tool="verify_fix", arguments=arguments, why="the program is run again")
    if case.state == "verified":
        lesson = f"firstcause case close {case.id} --lesson TEXT"
        return Step(person=lesson, why="the symptom is gone; the lesson is the person's")
    if case.state == "stopped":
        return Step(
            person=next_step(progress),
            why="three fixes of one approach failed; the counsel holds the question",
        )
    if case.state == "closed":
        return Step(tool="open_case", arguments={"run": "last"}, why="this case is closed")
    if case.state == "hypotheses" and not case.run:
        return Step(
            tool="open_case",
            arguments={"script": "the script"},
            why="it began with a text: a record of the program that fails so",
        )
    if case.state == "hypotheses" and progress.attempts and progress.attempts[-1].passed:
        return Step(
            tool="open_case", arguments={"script": "the script"}, why="another symptom is left: a new record"
        )
    missing = (
        diagnosis.missing if diagnosis is not None and diagnosis.missing else "a measurement that settles one"
    )
    if diagnosis is not None and diagnosis.status == "established":
        arguments |= {"cause": diagnosis.cause or ""}
        return Step(
            tool="propose_diagnosis", arguments=arguments, why="its cause is established; a fix is missing"
        )
    return Step(tool="run_probe", arguments=arguments, why=f"not established; missing: {missing}")


def step_of_hint(hint: str) -> Step:
    """What an error of the command line advises, as a call where a tool does it."""
    for command, tool in _TOOL_OF.items():
        if hint.startswith(command):
            return Step(tool=tool, why=hint)
    return Step(tool="case_status", why=hint)
