"""The specialist custom-autograd-functions."""

from firstcause.specialists.custom_autograd_functions import (
    acos_gradient_at_domain_edge,
    graph_reused_across_iterations,
    inplace_modified_saved_tensor,
    non_contiguous_gradient,
    nondeterministic_recomputation,
    optimizer_step_before_backward,
    sqrt_backward_at_zero,
    wrong_backward_formula,
    wrong_number_of_gradients,
)
from firstcause.specialists.specialist import Specialist

SPECIALIST = Specialist(
    "custom-autograd-functions",
    (
        acos_gradient_at_domain_edge,
        sqrt_backward_at_zero,
        inplace_modified_saved_tensor,
        optimizer_step_before_backward,
        graph_reused_across_iterations,
        nondeterministic_recomputation,
        wrong_number_of_gradients,
        wrong_backward_formula,
        non_contiguous_gradient,
    ),
)
