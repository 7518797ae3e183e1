"""The specialist custom-autograd-functions."""

from firstcause.specialists.custom_autograd_functions import sqrt_backward_at_zero
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist("custom-autograd-functions", (sqrt_backward_at_zero,))
