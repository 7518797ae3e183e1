"""The specialist checkpointing-and-reproducibility."""

from firstcause.specialists.checkpointing_and_reproducibility import module_prefix_strict_false
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist("checkpointing-and-reproducibility", (module_prefix_strict_false,))
