"""Which files are installed packages and not the user's own."""

from __future__ import annotations

# Debian's and Ubuntu's Python has its packages, and those of its pip, under the second name.
FOLDERS = ("site-packages", "dist-packages")


def is_installed(path: str) -> bool:
    """Whether a path leads into a folder of installed packages."""
    return any(folder in path for folder in FOLDERS)
