"""Nothing changed: the arm that the others are compared with, and whether the run can be reproduced at all."""

from firstcause.lab.interventions import Intervention


class Change(Intervention):
    """The program as it is."""
