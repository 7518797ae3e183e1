"""What a watcher is: one file that looks on while the program runs dry, and knows one kind of fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session


class Watcher:
    """The plug point of the dry run; a watcher overrides the events that it needs.

    Its docstring says what is seen and what refutes it. A watcher that is unsure is silent.
    """

    SLUG = ""

    def __init__(self, session: Session) -> None:
        self.session = session

    def forward(self, module: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """A module was called from outside of any module, and has returned."""

    def inner(self, module: Any, output: Any) -> None:
        """A module was called within another one's forward, and has returned."""

    def operated(self, name: str, inputs: tuple[Any, ...], output: Any) -> None:
        """A function of torch has returned."""

    def loss(self, name: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> None:
        """A loss function is about to be computed; ``inputs`` are prediction, target, and others."""

    def backward(self, root: Any) -> None:
        """``backward()`` is about to run from ``root``."""

    def backward_done(self, root: Any) -> None:
        """It has run."""

    def changed(self, tensors: list[Any], name: str) -> None:
        """An operator changes tensors in place, outside of backward and of an optimizer."""

    def step(self, optimizer: Any) -> None:
        """An optimizer is about to step."""

    def stepped(self, optimizer: Any) -> None:
        """It has stepped."""

    def cleared(self, parameters: list[Any]) -> None:
        """Gradients are about to be cleared by ``zero_grad``."""

    def scheduled(self, scheduler: Any) -> None:
        """A schedule is about to step, other than from its own constructor."""

    def moded(self, module: Any, training: bool) -> None:
        """``train()`` or ``eval()`` was called."""

    def loaded(self, loader: Any) -> None:
        """A DataLoader begins to be iterated."""

    def clipped(self, parameters: list[Any]) -> None:
        """Gradients are about to be clipped."""

    def hooked(self, module: Any) -> None:
        """A forward hook is about to be registered."""

    def restored(self, module: Any, state: Any, strict: bool) -> None:
        """``load_state_dict`` is about to run."""

    def ended(self) -> None:
        """The program is over, by its own end or by the horizon."""


def overridden(watcher: Watcher) -> set[str]:
    """The events that a watcher wants to hear of."""
    return {name for cls in type(watcher).__mro__ if cls not in (Watcher, object) for name in vars(cls)}
