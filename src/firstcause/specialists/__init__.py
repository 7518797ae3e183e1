"""One package a specialist: each proposes causes for a symptom and settles them on evidence."""

from firstcause.specialists.diagnose import diagnose

__all__ = ["diagnose"]
