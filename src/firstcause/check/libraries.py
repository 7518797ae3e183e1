"""Which version of each library a project is written for: what is pinned, what the user says, what is installed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from firstcause.check.brief import Text
from firstcause.check.versions import holds, release
from firstcause.source.project import Project
from firstcause.source.requirements import asked_for, installed, normal

LIBRARIES = (
    "torch", "transformers", "datasets", "accelerate", "peft", "trl", "vllm", "sglang", "lightning", "pytorch-lightning",
    "deepspeed", "bitsandbytes", "torchvision", "torchaudio", "timm", "numpy", "pandas", "hydra-core", "omegaconf",
)  # fmt: skip
# Names by which people call a library otherwise.
_SPOKEN = {"pytorch": "torch", "pytorch lightning": "lightning", "hugging face transformers": "transformers"}
_NAMES = "|".join(map(re.escape, [*_SPOKEN, *LIBRARIES]))
_SAID = re.compile(
    rf"(?<![\w/-])({_NAMES})[\s=]*(?:version\s*|v)?(\d+\.\d+(?:\.\d+)*)(?![\w%])", re.IGNORECASE
)


def versions(project: Project, texts: Iterable[Text] = ()) -> dict[str, str]:
    """One version for each library of which something is known; a library that is not in it is taken to be the newest.

    A pin wins over what the user says, that over the upper end of a range, and that over what is installed, which counts
    only where nothing forbids it.
    """
    said = {
        _SPOKEN.get(m[1].lower(), normal(m[1])): m[2] for text in texts for m in _SAID.finditer(text.content)
    }
    ranges = asked_for(project)
    found: dict[str, str] = {}
    for library, wanted in ranges.items():
        version = _exact(wanted) or said.get(library) or _below(wanted)
        if version:
            found[library] = version
    found = {**said, **found}
    for library, version in installed(project, [x for x in LIBRARIES if x not in found]).items():
        if holds(version, ranges.get(library, "")):
            found[library] = version
    return {library: _whole(version) for library, version in found.items()}


def _whole(version: str) -> str:
    """With three numbers at least: 5.24 is compared with the releases 5.24.0 and 5.24.1."""
    return version + ".0" * max(3 - len(release(version)), 0)


def _exact(wanted: str) -> str:
    match = re.search(r"(?:===?|~=)\s*(\d[\w.]*?)(?:\.\*)?(?:,|$|\+)", wanted)
    return match[1] if match else ""


def _below(wanted: str) -> str:
    """A version of a range that ends: its lower end if it has one, else just below its upper end."""
    upper = re.search(r"<(=?)\s*(\d[\w.]*)", wanted)
    lower = re.search(r">=?\s*(\d[\w.]*)", wanted)
    if upper is None:
        return ""
    if lower is not None or upper[1]:
        return lower[1] if lower is not None else upper[2]
    numbers = list(release(upper[2]))
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return ".".join(map(str, [*numbers[:-1], numbers[-1] - 1, 999])) if numbers else ""
