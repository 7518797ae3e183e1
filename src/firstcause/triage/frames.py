"""Frames as Python, IPython, rich and pytest print them, and whether they are the user's own."""

from __future__ import annotations

from firstcause.triage.expressions import expression
from firstcause.triage.reading import Frame

# Longer lines hold no frame, and would only cost time.
WIDEST = 1000

_PYTHON = expression(r"[\s|+]{0,200}File \"([^\"\n]{1,400})\", line (\d{1,9})(?:, in (.{1,200}))?\s*$")
_NOTEBOOK_FILE = expression(r"\s{0,8}File (\S{1,400}?):(\d{1,9})(?:, in ([^\s(]{1,120}).{0,400})?\s*$")
_CELL = expression(
    r"\s{0,8}(?:Cell |Input )?In ?\s?\[(\d{1,6})\],? ?(?:line (\d{1,9})|"
    r"in (?:<cell line: (\d{1,9})>|([^\s(]{1,120})).{0,200})?\s*$"
)
_OLD_NOTEBOOK = expression(
    r"\s{0,4}((?:~|/|\.|<ipython-input|[A-Za-z]:\\)[^\n]{0,300}?) in ([^\s(]{1,120})(?:\([^\n]{0,300}\))?\s*$"
)
_ARROW = expression(r"\s{0,4}-{2,6}> ?(\d{1,9})(?: (.{0,400}))?$")
_RICH = expression(r"[│|]\s{1,4}(\S[^│\n]{0,300}?):(\d{1,9}) in (\S{1,120})\s*[│|]?\s*$")
_RICH_SOURCE = expression(r"[│|]\s{1,4}❱\s*(\d{1,9})\s(.{0,400}?)\s*[│|]?\s*$")
_PYTEST = expression(r"(\S[^\s:]{0,300}\.py):(\d{1,9}): (?:in (\S{1,120})|([A-Z][\w.]{0,120}))?\s*$")

_LIBRARY = expression(
    r"site-packages|dist-packages|[/\\]lib(?:64)?[/\\]python\d|^<(?!ipython-input|stdin|string)|"
    r"[/\\]Lib[/\\](?!site)|"
    r"^(?:\.\.\.?[/\\])?(?:torch|torchvision|torchaudio|transformers|accelerate|deepspeed|"
    r"lightning|pytorch_lightning|vllm|"
    r"sglang|peft|trl|datasets|numpy|pandas|scipy|sklearn|ray|megatron|apex|xformers|flash_attn|triton|tqdm|IPython|"
    r"bitsandbytes|diffusers|tokenizers|safetensors|concurrent|multiprocessing|threading\.py|runpy\.py)(?:[/\\]|$)|"
    r"[/\\]envs?[/\\][\w.-]{1,60}[/\\]bin[/\\]|^/usr/(?:local/)?bin/|[/\\]\.?pyenv[/\\]|"
    r"[/\\]aten[/\\]|\.(?:cpp|cu|cuh|h|hpp|cc)$"
)


def is_own(file: str) -> bool:
    """Whether a file is the user's, and neither a library's nor the interpreter's."""
    return _LIBRARY.search(file) is None


def frame_in(line: str) -> Frame | None:
    """The frame that a line prints, if any; its source may stand in the lines that follow."""
    if len(line) > WIDEST:
        return None
    if 'File "' in line:
        match = _PYTHON.match(line)
        return _frame(match[1], match[2], match[3]) if match else None
    if "File " in line and (match := _NOTEBOOK_FILE.match(line)):
        return _frame(match[1], match[2], match[3])
    if "In" in line and "[" in line and (match := _CELL.match(line)) and "Out" not in line:
        if not (match[2] or match[3] or match[4]):
            return None
        cell = match[0].strip().split(",")[0].split(" in ")[0]
        return Frame(cell, int(match[2] or match[3] or 0), match[4] or "<module>", "", True)
    if line[:1] in "│|" and line and (match := _RICH.match(line)):
        return _frame(match[1].strip(), match[2], match[3])
    if ".py:" in line and (match := _PYTEST.match(line)):
        return _frame(match[1], match[2], match[3])
    if " in " in line and (match := _OLD_NOTEBOOK.match(line)) and ("(" in line or "<" in line):
        # Its line number stands at the arrow below.
        return _frame(match[1], "0", match[2])
    return None


def pointed(line: str) -> tuple[int, str] | None:
    """The line number and source that an arrow points to below a frame of IPython or rich."""
    if len(line) > WIDEST:
        return None
    if "->" in line and (match := _ARROW.match(line)):
        return int(match[1]), (match[2] or "").strip()
    if "❱" in line and (match := _RICH_SOURCE.match(line)):
        return int(match[1]), match[2].strip()
    return None


def _frame(file: str, line: str, function: str | None) -> Frame:
    return Frame(file, int(line), (function or "").strip(), "", is_own(file))
