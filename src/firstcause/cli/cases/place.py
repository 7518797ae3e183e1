"""Where the case that a user means lies, with its run and the folder that the run ran in."""

from __future__ import annotations

import getpass
import os

from firstcause.case import CaseFolder, find_case, project_of
from firstcause.record.folder import HOME


def root() -> str:
    """The .firstcause folder of the working directory."""
    return os.path.join(os.getcwd(), HOME)


def chosen(name: str | None) -> CaseFolder:
    """The case with this id or beginning, else the newest that is not closed."""
    return find_case(root(), name)


def cwd_of(folder: CaseFolder) -> str:
    """The folder in which the run was started: paths of its patch and sources are relative to it."""
    # Not the folder that the run names: in a copied project that would be the original.
    return project_of(folder.path)


def silent_cause(folder: CaseFolder) -> str | None:
    """The established cause of a training that failed without a word: only an audit tells whether it is gone."""
    diagnosis = folder.progress().case.diagnosis
    if diagnosis is None or diagnosis.symptom is None or diagnosis.symptom.kind != "invariant":
        return None
    return diagnosis.cause


def person() -> str:
    """The name of the person at this terminal, as far as the system knows it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        # A container may run under a number that has no name.
        return f"user {os.getuid()}"
