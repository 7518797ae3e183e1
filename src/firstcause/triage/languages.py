"""Errors of compilers, other languages and their tools, told by the form of their lines."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.triage.expressions import expression
from firstcause.triage.lines import Line

# A longer text is a log of many programs.
MOST = 120
_OURS = ("torch", "cuda", "nccl", "aten/", "c10", "vllm", "sglang", "nvcc", "triton", "epoch", ".py")
# Each form is one that the tool itself prints, and that neither Python nor a library of ours does.
_FORMS = (
    ("Rust", expression(r"\berror\[E\d{4}\]: |^thread '[^'\n]{1,60}' panicked at ")),
    (
        "Java or Kotlin",
        expression(
            r"^Exception in thread \"|^\s{1,8}at [\w.$]{3,120}\([\w$]{1,60}\.(?:java|kt|scala):\d"
            r"|^\S{1,200}\.java:\d{1,6}: error:"
        ),
    ),
    (
        "JavaScript or TypeScript",
        expression(
            r"^\s{1,8}at .{1,200}\.(?:js|ts|jsx|tsx|mjs|cjs):\d{1,6}:\d|\berror TS\d{4}:|^npm (?:ERR!|error) "
        ),
    ),
    ("Go", expression(r"^goroutine \d{1,9} \[|^(?:\./)?[\w/.-]{1,120}\.go:\d{1,6}:\d{1,4}: ")),
    (
        "C or C++",
        expression(
            r"^\S{1,200}\.(?:c|cc|cpp|cxx|h|hpp):\d{1,6}:\d{1,4}: (?:fatal )?error: |undefined reference to [`'\"]"
            r"|^collect2: error: |: error (?:C|LNK)\d{4}:"
        ),
    ),
    (
        "C#",
        expression(
            r"^Unhandled [Ee]xception[.:] System\.|^\s{1,8}at .{1,200} in .{1,200}\.cs:line \d|: error CS\d{4}:"
        ),
    ),
    ("PHP", expression(r"^(?:PHP )?(?:Fatal|Parse) error: .{0,300}\.php\b")),
    ("Ruby", expression(r"^\S{1,200}\.rb:\d{1,6}:in [`'\"]|\((?:NoMethodError|NameError|ArgumentError)\)$")),
    ("Swift", expression(r"^\S{1,200}\.swift:\d{1,6}(?::\d{1,4})?: |\bfile \w{1,60}\.swift, line \d")),
    (
        "SQL",
        expression(
            r"^ERROR \d{4} \(\w{5}\)|^(?:psql:.{0,200})?ERROR: {1,2}(?:syntax error at|relation|column) |\bORA-\d{5}: "
        ),
    ),
    ("a shell", expression(r"^\S{1,200}: line \d{1,6}: (?:syntax error|unexpected EOF)")),
    ("R", expression(r"^Error in (?:library|eval|data\.frame|`?[\w.$<-]{1,40}`?)\(.{0,200}\) : ?$")),
    ("Terraform", expression(r"\bon [\w./-]{1,120}\.tf line \d")),
)


def other_language(lines: Sequence[Line], total: int) -> str:
    """The language or tool whose own error a short text holds; empty without one, and beside a word of ours."""
    if total > MOST:
        return ""
    if any(word in line.raw.lower() for line in lines for word in _OURS):
        return ""
    for name, form in _FORMS:
        if any(form.search(line.raw[:2000]) for line in lines):
            return name
    return ""
