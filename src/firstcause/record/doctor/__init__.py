"""What of firstcause works on this machine, in this folder and with the Python that runs the program, and why not."""

from firstcause.record.doctor.checks import Check, checks

__all__ = ["Check", "checks"]
