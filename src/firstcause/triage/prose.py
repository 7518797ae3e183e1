"""What somebody wrote, what stands there as code, and what a program printed."""

from __future__ import annotations

import collections
import warnings
from collections.abc import Sequence

from firstcause.triage.exceptions import exception_in
from firstcause.triage.expressions import expression
from firstcause.triage.frames import frame_in
from firstcause.triage.lines import Line

# Longer texts are logs: whoever writes in one writes above it or below it.
LOG = 120
EDGE = 25
WIDEST = 2000
# What stands there again and again with other numbers was printed by a loop.
REPEATED = 3
# Printed dictionaries of metrics, such as a trainer's, of which so many are read as numbers.
METRICS = 60
# A line is compiled to see whether it is code, and there may be a million of them.
COMPILED = 400

_FENCE = expression(r"\s{0,3}(?:`{3,}|~{3,})")
_WARNING = expression(r"\s{0,8}\S{1,300}\.py:\d{1,7}: \w{1,60}Warning: |\s{0,8}warnings\.warn\(")
_BAR = expression(r"\d{1,3}%\s{0,4}\|.{0,200}\||\d+(?:\.\d+)?(?:it/s|s/it)\b|━{4,}")
_NATIVE = expression(
    r"^\s{0,8}(?:frame #\d+:|#\d{1,3}\s+0x[0-9a-f]+|\*\*\* Process received|Exception raised from |"
    r"terminate called|(?:Aborted|Killed|Segmentation fault|Bus error|Terminated)(?: \(core dumped\))?\s*$|"
    r"(?:srun|slurmstepd|mpirun|torchrun|bash|sh)(?:\[\d{1,9}\])?: (?:error|warning|line \d)|"
    r"NCCL (?:INFO|WARN|TRACE)\b)|\.(?:cu|cpp|cuh|h|cc):\d+"
)
_DICTIONARY = expression(r"\s{0,8}\{\s?['\"][\w/ .-]{1,60}['\"]\s?:.{0,1500}\}\s*$")
_RULE = expression(r"\s{0,20}[-=*_#─━~+|]{6,}\s*$")
_STATEMENT = expression(
    r"\s*(?:def \w+\(|class \w+[(:]|import \w[\w.]*(?: as \w+)?(?:, \w[\w.]*)*$|"
    r"from [\w.]+ import |@\w[\w.]*(?:\(.*\))?$|(?:try|else|finally):\s*$|(?:>>>|\.\.\.) )"
)
_HEADER = expression(r"\s*(?:for|while|if|elif|with|except|async|def|class)\b.{0,300}:\s*(?:#.{0,200})?$")
_NUMBERS = expression(r"[-+]?\d[\d.]{0,30}(?:e[-+]?\d{1,3})?")
_SHELL = expression(
    r"\s{0,8}(?:\$ |(?:[A-Z][A-Z0-9_]+=\S+ )*(?:python3?|torchrun|accelerate launch|deepspeed|srun|"
    r"sbatch|pip|conda|vllm serve|CUDA_VISIBLE_DEVICES=\S+)\s+[-\w./=])"
)
# "torchrun on two nodes just hangs" and "deepspeed run failed, logs gone" tell of a command.
_SENTENCE = expression(
    r"[,.!?] [a-z]|\b(?:fails?|failed|hangs?|stops?|stopped|died|dies|crash\w{0,3}|gives|says|"
    r"prints|with(?:out)?|just|never|then|because|but|is|was|on|the|my|our)\b [^-]"
)
_REPORTS = (
    "CUDA kernel errors might be asynchronously reported",
    "For debugging consider passing CUDA_LAUNCH_BLOCKING",
    "Compile with `TORCH_USE_CUDA_DSA`",
)
_ELASTIC = expression(
    r"\s{0,4}(?:time|host|rank|exitcode|error_file|traceback)\s{1,12}: |\[\d{1,5}\]:\s*$|"
    r"(?:Failures|Root Cause \(first observed failure\)):|\s*<NO_OTHER_FAILURES>"
)


class Split:
    """The lines of a text as prose and code; ``used`` are the lines that a traceback takes, ``seen`` those of messages."""

    def __init__(self, used: set[int], seen: dict[int, str], total: int, long: bool) -> None:
        self.used, self.seen = used, seen
        self.total, self.long = total, long
        self.prose: list[str] = []
        self.code: list[str] = []
        self.metrics: list[str] = []
        self._fenced = False
        self._in_code = False
        self._tries = COMPILED
        self._alike: collections.Counter[str] = collections.Counter()
        self._messages: set[str] = set()

    def read(self, lines: Sequence[Line]) -> Split:
        if self.total > LOG:
            self._alike = collections.Counter(map(_shape, lines))
        # A message is noted at its first line; the same line with other numbers was printed as well.
        self._messages = {_words(line.text) for line in lines if line.number in self.seen} - {""}
        for line in lines:
            self._line(line)
        return self

    def _line(self, line: Line) -> None:
        text = line.text[:WIDEST]
        if _FENCE.match(text):
            rest = text.strip().strip("`~").strip()
            # One line may open a block and close it.
            self._fenced = not self._fenced if text.count("```") != 2 else self._fenced
            self._in_code = self._fenced
            if " " not in rest or line.number in self.used:
                return
            text = rest
        elif text.rstrip().endswith("```"):
            self._fenced, text = False, text.rstrip().rstrip("`")
        if not text.strip():
            if self.prose and self.prose[-1]:
                self.prose.append("")
            self._in_code = self._in_code and self._fenced
        elif self._printed(line, text):
            self._in_code = False
            if len(self.metrics) < METRICS and _DICTIONARY.match(text):
                self.metrics.append(text.strip())
        elif self._fenced or self._is_code(text):
            self.code.append(text)
            self._in_code = True
        else:
            self._in_code = False
            if self._written(line):
                self.prose.append(text.strip())

    def _written(self, line: Line) -> bool:
        if self.long or self.total > LOG:
            edge = line.number <= EDGE or line.number > self.total - EDGE
            return edge and line.text is line.raw and self._alike[_shape(line)] < REPEATED
        return True

    def _printed(self, line: Line, text: str) -> bool:
        """Whether a program printed it."""
        if line.number in self.used or line.origin.logged or frame_in(text) is not None:
            return True
        message = self.seen.get(line.number)
        words = text.strip()
        if (
            message is None
            and self._messages
            and any(map(str.isdigit, words))
            and _words(text) in self._messages
        ):
            return True
        if message is not None and len(message) > 0.6 * len(words):
            return True
        if exception_in(words, after_frames=False) is not None or words.startswith(_REPORTS):
            return True
        return any(pattern.search(text) for pattern in (_BAR, _NATIVE)) or any(
            pattern.match(text) for pattern in (_WARNING, _DICTIONARY, _RULE, _ELASTIC)
        )

    def _is_code(self, text: str) -> bool:
        if _STATEMENT.match(text) or (_SHELL.match(text) and not _SENTENCE.search(text)):
            return True
        stripped = text.strip()
        if self._in_code and (text[:1].isspace() or stripped[:1] in ")]}#"):
            return True
        if len(stripped) > 300 or self._tries <= 0:
            return False
        if _HEADER.match(text):
            if stripped.startswith(("elif", "except")):
                return True
            stripped = stripped.split("#")[0].rstrip() + " pass"
        elif not any(sign in stripped for sign in "(=["):
            return False
        self._tries -= 1
        return _compiles(stripped)


_DIGITS = str.maketrans("123456789", "000000000")


def _words(text: str) -> str:
    """A line without its numbers, however long they are."""
    return _NUMBERS.sub("0", text[:WIDEST].strip())


def _shape(line: Line) -> str:
    return line.text[:200].translate(_DIGITS)


def _compiles(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<text>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
        return False
    # "(stuck)" compiles as well; a call, an assignment or an index does not begin with a bracket.
    return text[0] not in "([{\"'"
