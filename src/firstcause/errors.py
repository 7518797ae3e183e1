"""Every error that firstcause raises on purpose: whose fault it is, where, and what to do next."""


class FirstcauseError(Exception):
    """What went wrong, and the one thing to do next; only the command line prints it and exits.

    ``slug`` is stable and names the error's page; ``hint`` is one command or action.
    """

    kind = "own"

    def __init__(self, slug: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.slug = slug
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class InputError(FirstcauseError):
    """What the user gave cannot be used."""

    kind = "input"


class RecordError(FirstcauseError):
    """A run or a case on disk cannot be read or written."""

    kind = "record"


class KnowledgeError(FirstcauseError):
    """A catalogue file does not say what its format asks for."""

    kind = "knowledge"


class GateError(FirstcauseError):
    """A step of the case is asked for before its time."""

    kind = "gate"


class SealError(FirstcauseError):
    """The sandbox refused something that cannot be undone."""

    kind = "seal"
