"""The replay of a failure that was recorded from inside of the code, by ``firstcause.observe`` or a callback."""

from __future__ import annotations

from firstcause.diagnose.copied_replay import Facts, replayed_in_copy
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder


def replayed_under_marks(folder: RunFolder, failure: Facts | None, lab: Lab | None) -> Facts | None:
    """Such a failure with its replay in a copy that is recorded by the launcher: only there loops are marked.

    Any other failure is handed back as it was.
    """
    if failure is None or "replay" in failure or failure.get("unit"):
        return failure
    environment = folder.run().environment or {}
    if not (environment.get("recording") or {}).get("in_code"):
        return failure
    return replayed_in_copy(folder, failure, lab, {})
