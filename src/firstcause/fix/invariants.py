"""Whether a training still breaks the invariant that a silent cause was established on."""

from __future__ import annotations

from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.schema import Hypothesis, Symptom
from firstcause.specialists import CAUSES
from firstcause.specialists.audits import audited
from firstcause.specialists.examination import Examination
from firstcause.specialists.specialist import AloneCause, SilentCause


def still_broken(folder: RunFolder, cause: str, seconds: float) -> str:
    """What the audit of this run shows of ``cause``, in a sentence; empty where it shows nothing, or nothing that is proven.

    Runs the program again, sealed, for at most so many seconds. Says so where the audit could not be made: an invariant
    that was not looked at is not known to hold.
    """
    module = CAUSES[cause]
    if not isinstance(module, SilentCause):
        return ""
    examination = Examination(folder, folder.run(), Symptom("invariant", ""), None, Lab(folder, {}, seconds))
    assert examination.lab is not None
    alone = module.alone(examination) if isinstance(module, AloneCause) else None
    found = alone if alone is not None else audited(examination.lab)
    if not found.rows:
        return f"it could not be looked at again ({found.why or f'its audit ended by {found.ended}'})"
    seen = module.seen(found, examination)
    if seen is None:
        return ""
    # What is seen may be meant; as the diagnosis did, only what its experiment proves counts.
    settled = module.settle(Hypothesis(cause, None, 0), examination)
    return seen if settled.status == "confirmed" else ""
