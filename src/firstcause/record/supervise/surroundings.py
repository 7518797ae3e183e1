"""What a run depends on besides its code: versions, revision, hardware, and the hash of each source file."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Iterable
from typing import Any

SECRET = re.compile(r"(?i)(key|token|secret|passw|credential|auth|cookie|session)")
KEPT = re.compile(
    r"^(CUDA|NCCL|TORCH|PYTORCH|OMP|MKL|PYTHON|HF_|TRANSFORMERS_|RANK|WORLD_SIZE|LOCAL_RANK|MASTER_|SLURM_|NVIDIA)"
)


def environment() -> dict[str, str]:
    """The environment variables that change how torch runs; what looks like a secret is never among them."""
    return {k: v for k, v in sorted(os.environ.items()) if KEPT.match(k) and not SECRET.search(k)}


def hardware() -> dict[str, Any]:
    """Processor count, memory in bytes, and the system's name."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {"cpus": os.cpu_count(), "memory_bytes": pages * size, "system": platform.platform()}


def revision(cwd: str) -> tuple[str | None, bool | None]:
    """The git revision of a folder, and whether it differs from it; (None, None) outside of git."""

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", cwd, *words], capture_output=True, text=True, timeout=5, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    head = git("rev-parse", "HEAD")
    if head is None:
        return None, None
    return head, bool(git("status", "--porcelain", "--untracked-files=no"))


def hashes(paths: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of each file that can be read."""
    result = {}
    for path in sorted(set(paths)):
        try:
            with open(path, "rb") as file:
                result[path] = hashlib.sha256(file.read()).hexdigest()
        except OSError:
            # Gone or unreadable since: there is nothing to compare it with later.
            continue
    return result
