"""From a recorded run to a diagnosis: the specialists' hypotheses, the line to fix, the patch, and its trial."""

from firstcause.diagnose.pipeline import diagnose

__all__ = ["diagnose"]
