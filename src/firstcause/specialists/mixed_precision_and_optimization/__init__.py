"""The specialist mixed-precision-and-optimization."""

from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist("mixed-precision-and-optimization", ())
