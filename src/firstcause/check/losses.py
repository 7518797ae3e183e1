"""Where losses are computed: calls of torch's functions, and of the objects that its loss classes make."""

from __future__ import annotations

from firstcause.check.code import Call, Code


def loss_calls(code: Code, functions: tuple[str, ...], classes: tuple[str, ...]) -> list[Call]:
    """The calls of ``torch.nn.functional``'s functions, and of objects of ``torch.nn``'s classes, by their last names."""
    found = code.calls(*(f"torch.nn.functional.{name}" for name in functions))
    return found + [
        use for made in code.calls(*(f"torch.nn.{name}" for name in classes)) for use in code.uses_of(made)
    ]
