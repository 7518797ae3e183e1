"""What a record does not hold, by a limit or by wish, told in the diagnosis that has to do without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from firstcause.record import redact
from firstcause.schema import SECTIONS, Diagnosis, Run, from_plain, to_plain


def keeps_no_data(run: Run) -> bool:
    """Whether the run was recorded with --no-data: then nothing of it is run again where its values would be kept."""
    recording = (run.environment or {}).get("recording")
    return isinstance(recording, dict) and recording.get("no_data") is True


def told(run: Run, failure: dict[str, Any] | None, diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis with what was not kept of the failing step, beneath its symptom."""
    said = []
    if keeps_no_data(run) and diagnosis.status != "healthy":
        said.append(
            "The run was recorded with --no-data: values, elements and ranges could not be established, and nothing is run "
            "again for them."
        )
    elif failure is not None:
        lacking = [failure.get(k) for k in ("not_saved", "left_out")]
        said += [f"In the record of the step: {text}." for text in lacking if text]
    if not said:
        return diagnosis
    name = SECTIONS[0]
    return replace(
        diagnosis,
        sections={**diagnosis.sections, name: " ".join([diagnosis.sections.get(name, ""), *said]).strip()},
    )


def without_secrets(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis as it may be kept in a case: what a program said when it was run again may quote a secret.

    The patch stays as it is, since it must fit the file.
    """
    plain = to_plain(replace(diagnosis, fix=None))
    redacted = redact.value(plain, redact.held())
    return diagnosis if redacted == plain else replace(from_plain(Diagnosis, redacted), fix=diagnosis.fix)
