"""``propose_diagnosis``: an established cause with a fix, reviewed and tried in a copy before a person is asked."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.types import CallToolResult

from firstcause.case import CaseFolder, Progress, class_of, diagnosis_hash, project_of, require_ready
from firstcause.case.reviewing import review_for
from firstcause.mcp.answers import CaseAnswer, Step, given
from firstcause.mcp.cases import required, standing
from firstcause.mcp.order import following
from firstcause.mcp.refusing import Refusal, refusing
from firstcause.mcp.working import error_of, work
from firstcause.schema import Diagnosis, Fix


@refusing
async def propose_diagnosis(
    ctx: Context[Any, Any],
    cause: str,
    case: str = "",
    diff: str = "",
    summary: str = "",
    budget_seconds: float = 180.0,
) -> Annotated[CallToolResult, CaseAnswer]:
    """Propose the cause and its fix to the person, without applying anything.

    The cause must be the one that the measurements established. `diff` is a unified diff with a/ and b/ paths, in place
    of the fix that firstcause proposes; it is reviewed as `firstcause review-fix` does, and tried in a throw-away copy.
    """
    folder, progress = required(case, "propose_diagnosis")
    diagnosis = _established(progress, cause)
    if diff:
        diagnosis = _with_own(folder, progress, diagnosis, diff, summary)
    if diagnosis.fix is None and class_of(diagnosis) == "code":
        step = Step(
            tool="propose_diagnosis", arguments={"cause": cause}, why="give `diff`, the change at the cause"
        )
        raise Refusal("fix-missing", f"no fix is proposed for {cause}", "a diff", step)
    require_ready(diagnosis)
    if diagnosis != progress.case.diagnosis or progress.case.state != "diagnosed":
        with folder.writing() as writer:
            writer.append("hypotheses", diagnosis=diagnosis)
            writer.append("diagnosed", diagnosis_hash=diagnosis_hash(diagnosis))
    if not diff:
        return given(standing(folder, f"proposed: {cause}, with the fix that firstcause made"))
    words = ["case", "try", folder.id, "--json", "-", "--budget", f"{budget_seconds:.0f}s"]
    done = await work(ctx, words, budget_seconds, "trying the fix in a copy")
    if done.code not in (0, 1):
        raise error_of(done)
    tried = json.loads(done.out)
    outcome = "passes" if tried["passed"] else "does not pass"
    said = f"proposed: {cause}; the fix {outcome} in a copy"
    answer = standing(folder, said, tried["text"], budget_seconds, done.seconds)
    if not tried["passed"]:
        again = Step(
            tool="propose_diagnosis",
            arguments={"case": folder.id, "cause": cause},
            why="a person would approve a fix that does not pass; propose another diff, or none for firstcause's own",
        )
        answer = answer.model_copy(update={"next": again})
    return given(answer)


def _established(progress: Progress, cause: str) -> Diagnosis:
    """The diagnosis in force; raises ``Refusal`` where it does not establish this cause."""
    diagnosis = progress.case.diagnosis
    if diagnosis is not None and diagnosis.status == "established" and diagnosis.cause == cause:
        return diagnosis
    own = next((h for h in diagnosis.hypotheses if h.cause == cause), None) if diagnosis else None
    arguments: dict[str, Any] = {"case": progress.case.id, "theory": cause}
    if own is not None and own.status == "refuted":
        against = next((e.text for e in own.evidence if not e.supports), "its prediction failed")
        step = following(progress)
        raise Refusal("cause-refuted", f"{cause} is refuted: {against}", "another cause", step)
    if diagnosis is not None and diagnosis.status == "established":
        message = f"the measurements established {diagnosis.cause}, and not {cause}"
        raise Refusal(
            "cause-not-established",
            message,
            f"evidence for {cause}",
            Step(tool="run_probe", arguments=arguments),
        )
    missing = (
        (own.missing if own else "")
        or (diagnosis.missing if diagnosis else "")
        or f"a measurement of {cause}"
    )
    message = f"{cause} is not established: {'it is ' + own.status if own else 'nothing was measured for it'}"
    step = Step(tool="run_probe", arguments=arguments, why="a theory is settled by measuring")
    raise Refusal("cause-not-established", message, missing, step)


def _with_own(
    folder: CaseFolder, progress: Progress, diagnosis: Diagnosis, diff: str, summary: str
) -> Diagnosis:
    """The diagnosis with the agent's fix; raises ``Refusal`` where the review finds something against it."""
    review = review_for(progress, diff, project_of(folder.path))
    if not review.passed:
        reasons = "; ".join(f"{r.rule} at {r.place}: {r.text}" for r in review.reasons)
        step = Step(
            tool="propose_diagnosis",
            arguments={"cause": diagnosis.cause},
            why="with a diff at the cause, or none",
        )
        raise Refusal(
            "fix-reviewed", f"the diff does not pass the review: {reasons}", "a fix of the cause itself", step
        )
    before, places = diagnosis.fix, ", ".join(review.places)
    fix = Fix(
        diagnosis.cause or "",
        diff,
        summary.strip() or f"An agent's change of {', '.join(review.files)}.",
        f"The lines at {places}, as the diff shows.",
        before.does_not_fix if before else diagnosis.sections["What This Fix Will NOT Fix"],
        class_of(diagnosis),
    )
    sections = {
        **diagnosis.sections,
        "Proposed Fix": f"{fix.summary} An agent wrote this patch; it stands at {places}.",
        "What This Fix Will Change": fix.changes,
    }
    return replace(diagnosis, fix=fix, sections=sections)
