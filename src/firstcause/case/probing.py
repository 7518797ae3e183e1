"""A stand-alone script for each piece of evidence of a case, in its folder: run, it prints the figure again."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from firstcause.case.folder import CaseFolder
from firstcause.diagnose.pipeline import failure_of
from firstcause.errors import RecordError
from firstcause.record import private
from firstcause.record.folder import RunFolder
from firstcause.schema import Diagnosis, Evidence, to_plain

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probes")
_NUMBER = re.compile(r"probe-(\d+)\.json")


@dataclass(frozen=True)
class Probe:
    """A script in the case's folder, the hypotheses that its evidence speaks of, and what the evidence says."""

    file: str
    causes: tuple[str, ...]
    text: str


def write_probes(folder: CaseFolder, run_folder: str, diagnosis: Diagnosis) -> None:
    """Write the scripts of a diagnosis in place of those of the one before.

    Evidence of several hypotheses with the same figures has one script. Raises ``RecordError`` where one cannot be
    written.
    """
    failure = _failure(run_folder, diagnosis)
    relative = os.path.relpath(os.path.abspath(run_folder), folder.path)
    try:
        for old in glob.glob(os.path.join(glob.escape(folder.path), "probe-*.*")):
            os.unlink(old)
        for number, (kind, causes, evidence) in enumerate(_distinct(diagnosis, failure), 1):
            content = {
                "causes": causes,
                "run": relative,
                "failure": failure,
                "python": sys.executable,
                **to_plain(evidence),
            }
            if content["step"] is None and diagnosis.symptom is not None:
                content["step"] = diagnosis.symptom.step
            with open(
                folder.file(f"probe-{number}.json"), "w", encoding="utf-8", opener=private.opener
            ) as file:
                json.dump(content, file, indent=1, default=str)
            shutil.copyfile(os.path.join(SCRIPTS, kind + ".py"), folder.file(f"probe-{number}.py"))
            os.chmod(folder.file(f"probe-{number}.py"), private.FILE)
    except OSError as error:
        message = f"{folder.path} cannot be written: {error}"
        raise RecordError("case-unwritable", message, "free space or fix its permissions") from error


def probes_of(folder: CaseFolder) -> list[Probe]:
    """The probes of a case, in order; one that cannot be read is left out."""
    found: list[tuple[int, Probe]] = []
    for name in os.listdir(folder.path):
        match = _NUMBER.fullmatch(name)
        if match is None:
            continue
        try:
            with open(folder.file(name), encoding="utf-8") as file:
                content: dict[str, Any] = json.load(file)
            probe = Probe(f"probe-{match[1]}.py", tuple(content["causes"]), str(content["text"]))
        except (OSError, ValueError, KeyError, TypeError):
            # Somebody's own file, or a torn one: the next diagnosis writes them anew.
            continue
        found.append((int(match[1]), probe))
    return [probe for _, probe in sorted(found, key=lambda pair: pair[0])]


def _distinct(diagnosis: Diagnosis, failure: str | None) -> Iterator[tuple[str, list[str], Evidence]]:
    """Each script's kind, the causes of its evidence, and the first such piece."""
    groups: dict[str, tuple[str, list[str], Evidence]] = {}
    for hypothesis in diagnosis.hypotheses:
        for evidence in hypothesis.evidence:
            kind = _kind(evidence, failure)
            key = json.dumps([kind, to_plain(evidence.values), evidence.step], sort_keys=True, default=str)
            if kind == "line":
                key += str(evidence.site)
            _, causes, _ = groups.setdefault(key, (kind, [], evidence))
            if hypothesis.cause not in causes:
                causes.append(hypothesis.cause)
    yield from groups.values()


def _kind(evidence: Evidence, failure: str | None) -> str:
    if evidence.values.get("arms"):
        return "arms"
    if evidence.kind == "experiment":
        return "trial"
    if evidence.kind == "static":
        return "line"
    return "replay" if evidence.kind == "replay" and failure is not None else "journal"


def _failure(run_folder: str, diagnosis: Diagnosis) -> str | None:
    """The name of the failing step that was kept, which the evidence is about."""
    if diagnosis.symptom is None:
        return None
    try:
        found = failure_of(RunFolder(run_folder), diagnosis.symptom)
    except RecordError:
        # The record is gone or damaged: what it held cannot be measured again.
        return None
    return None if found is None else str(found["name"])
