"""The gate on the page: the same questions, code and hashes as at a terminal, for a person who started the server."""

from __future__ import annotations

from typing import Any

from firstcause.case import (
    CaseFolder,
    Codes,
    approve,
    decline,
    diagnosis_hash,
    diff_hash,
    questions_of,
    reject,
    require_ready,
)
from firstcause.case.unrecorded import changed_since_run
from firstcause.errors import FirstcauseError, GateError

_LONGEST = 4000


class Gate:
    """Approves in the name of ``person``; where that is empty, nobody sat at a terminal, and it approves nothing.

    A program could read the page and answer it: what it cannot have is the terminal at which the server was started.
    """

    def __init__(self, person: str) -> None:
        self.person = person
        self._codes = Codes()

    def shown(self, folder: CaseFolder) -> dict[str, Any]:
        """Whether this page may approve the case, the code to type, and files that differ from the record."""
        if not self.person:
            why = f"The server was not started at a terminal, so that it approves nothing: firstcause case approve {folder.id}"
            return {"able": False, "why": why}
        progress = folder.progress()
        if progress.case.state != "diagnosed":
            return {
                "able": False,
                "why": f"The case is {progress.case.state}: nothing waits for an approval.",
            }
        try:
            code = self._codes.shown(progress)
        except FirstcauseError as error:
            return {"able": False, "why": str(error)}
        changed = [
            f"{one.path} {one.how} since the run was recorded, and nobody approved that."
            for one in changed_since_run(folder)
        ]
        return {"able": True, "code": code, "changed": changed}

    def approve(self, folder: CaseFolder, body: dict[str, Any]) -> None:
        """Record the approval; raises ``GateError`` where an answer, the code or a hash is another one.

        An answer that keeps the fix back is recorded before it is refused, as at a terminal.
        """
        self._require_person(folder)
        progress = folder.progress()
        diagnosis = require_ready(progress.case.diagnosis)
        if progress.case.state != "diagnosed":
            message = f"case {folder.id} is {progress.case.state}: nothing waits for an approval"
            raise GateError("nothing-to-approve", message, f"firstcause case show {folder.id}")
        shown = (str(body.get("diagnosis_hash")), str(body.get("diff_hash")))
        if shown != (diagnosis_hash(diagnosis), diff_hash(diagnosis)):
            message = "the diagnosis or its diff is no longer the one that was shown"
            raise GateError("page-outdated", message, "load the page again and read what is there now")
        given = body.get("answers")
        answers = {k: str(v) for k, v in given.items()} if isinstance(given, dict) else {}
        for question in questions_of(progress):
            said = answers.get(question.key, "")
            if said != question.accepts:
                if said:
                    decline(folder, question, said[:200], self.person)
                message = f"not approved: {question.otherwise if said else 'a question is not answered'}"
                raise GateError("not-approved", message, "send it back with the reason, or answer again")
        if not self._codes.typed(str(body.get("code", "")), progress):
            raise GateError(
                "code-differs", "not approved: the code is another one", "type the code shown here"
            )
        keys = {question.key for question in questions_of(progress)}
        approve(folder, *shown, self.person, {k: v for k, v in answers.items() if k in keys})

    def reject(self, folder: CaseFolder, body: dict[str, Any]) -> None:
        """Send the fix back with its reason; raises ``GateError`` where nothing is proposed or no reason is given."""
        self._require_person(folder)
        reject(folder, str(body.get("because", ""))[:_LONGEST].strip(), self.person)

    def _require_person(self, folder: CaseFolder) -> None:
        if not self.person:
            message = "approval needs a person at a terminal"
            raise GateError(
                "no-terminal", message, f"type it at a terminal: firstcause case approve {folder.id}"
            )
