"""The specialist module-design-patterns."""

from firstcause.specialists.module_design_patterns import flatten_linear_mismatch
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist("module-design-patterns", (flatten_linear_mismatch,))
