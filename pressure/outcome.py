"""The block with which every subject ends, whatever its arm: it makes the end of a talk gradeable without a judge."""

from __future__ import annotations

from dataclasses import dataclass

FORM = """When you are done, end your last message with this block, and nothing after it:
OUTCOME
area: <where it belongs, the first to look first; of: debugging-techniques, tensor-operations-and-memory,
performance-profiling, distributed-training-strategies, mixed-precision-and-optimization, custom-autograd-functions,
checkpointing-and-reproducibility, module-design-patterns, data-loading>
question: <what you need from the user before anything else, or none>
look: <one thing that is to be measured or looked at; as many lines as there are>
do: <one change that you made or advise now; as many lines as there are, or none>
cause: <file, line and one sentence; or: not established; or: nothing is wrong>"""
_NOTHING = ("", "none", "-", "none.", "n/a")


@dataclass(frozen=True)
class Outcome:
    """What the block says; ``whole`` is whether there was one."""

    whole: bool = False
    area: tuple[str, ...] = ()
    question: str = ""
    look: tuple[str, ...] = ()
    do: tuple[str, ...] = ()
    cause: str = ""

    def text(self) -> str:
        """What is looked at, done, asked and concluded, as one text."""
        return "\n".join((*self.look, *self.do, self.question, self.cause))


_KEYS = ("area", "question", "look", "do", "cause")


def outcome_of(text: str) -> Outcome:
    """The last block of a text."""
    _, mark, block = text.rpartition("OUTCOME\n")
    if not mark:
        return Outcome()
    lines: dict[str, list[str]] = {key: [] for key in _KEYS}
    for line in block.split("\n"):
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() in lines and value.strip().lower() not in _NOTHING:
            lines[key.strip().lower()].append(value.strip())
    areas = [word.strip(" .") for line in lines["area"] for word in line.replace(">", ",").split(",")]
    return Outcome(
        True,
        tuple(areas),
        " ".join(lines["question"]),
        tuple(lines["look"]),
        tuple(lines["do"]),
        " ".join(lines["cause"]),
    )


def block(
    area: tuple[str, ...] = (),
    question: str = "",
    look: tuple[str, ...] = (),
    do: tuple[str, ...] = (),
    cause: str = "",
) -> str:
    """The block that says this."""
    lines = ["OUTCOME", f"area: {', '.join(area) or 'none'}", f"question: {question or 'none'}"]
    lines += [f"look: {text}" for text in look] + [f"do: {text}" for text in do or ("none",)]
    return "\n".join([*lines, f"cause: {cause or 'not established'}"])
