"""The specialist tensor-operations-and-memory."""

from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist("tensor-operations-and-memory", ())
