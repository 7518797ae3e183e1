"""Numbers that stand for values that there are none of; they tell where they decide something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firstcause.check.dry.child.answers import stand_in

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "__bool__")
CARRYING = (  # noqa: SIM905
    "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __neg__ __abs__ __pow__"
).split()


class Number(float):
    """A made-up float; what is computed from it is made up too."""

    session: Session

    def __new__(cls, value: float, session: Session) -> Number:
        made = super().__new__(cls, value)
        made.session = session
        return made

    __hash__ = float.__hash__

    def __reduce__(self) -> Any:
        return float, (float(self),)


def _comparing(name: str) -> Any:
    original = getattr(float, name)

    def compare(self: Number, *other: Any) -> Any:
        self.session.made_up()
        return original(self, *other)

    return compare


def _carrying(name: str) -> Any:
    original = getattr(float, name)

    def compute(self: Number, *other: Any) -> Any:
        value = original(self, *other)
        return Number(value, self.session) if isinstance(value, float) else value

    return compute


for _name in COMPARISONS:
    setattr(Number, _name, _comparing(_name))
for _name in CARRYING:
    setattr(Number, _name, _carrying(_name))


def listed(tensor: Any, session: Session) -> Any:
    """Nested lists of stand-ins, as ``tolist`` would give them."""
    if getattr(tensor, "constant", None) is not None:
        from torch._subclasses.fake_tensor import unset_fake_temporarily

        with unset_fake_temporarily():
            return tensor.constant.tolist()
    session.made_up()
    session.made_up_sizes |= not tensor.dtype.is_floating_point
    value = getattr(tensor, "hint", stand_in(tensor.dtype))
    value = Number(value, session) if isinstance(value, float) else value

    def of(shape: tuple[int, ...]) -> Any:
        return [of(shape[1:]) for _ in range(shape[0])] if shape else value

    return of(tuple(tensor.shape))
