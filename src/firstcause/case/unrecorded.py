"""What of a program is no longer as its run was recorded, and was not changed by a fix that a person approved."""

from __future__ import annotations

import os

from firstcause.case.folder import CaseFolder, project_of
from firstcause.case.history import read
from firstcause.case.watching import Difference
from firstcause.errors import RecordError
from firstcause.fix.writing import file_hash
from firstcause.record.folder import RunFolder


def changed_since_run(folder: CaseFolder) -> list[Difference]:
    """The files of the run that differ from its record now; none where the record does not hold their hashes."""
    try:
        run = RunFolder(folder.run_folder()).run()
    except RecordError:
        # A record that was removed takes nothing away from the case.
        return []
    project = project_of(folder.path)
    written: dict[str, set[str]] = {}
    for event in read(folder.path).events:
        if event.event == "applying":
            for path, change in event.data["files"].items():
                real = os.path.realpath(os.path.join(project, path))
                written.setdefault(real, set()).update((change["before"], change["after"]))
    found = []
    for path, known in (run.sources or {}).items():
        relative = os.path.relpath(os.path.join(run.folder, path), run.folder)
        if not known or relative.startswith(".."):
            continue
        # Beneath the case, not where the run was: a copied project has its own files.
        real = os.path.realpath(os.path.join(project, relative))
        now = file_hash(real)
        if now != known and now not in written.get(real, ()):
            found.append(Difference(relative, "changed" if now else "was removed"))
    return sorted(found)
