"""What code says of its settings, read from files that a test writes."""

from __future__ import annotations

import textwrap

from firstcause.check.code import Code
from firstcause.check.facts import facts
from firstcause.schema.instruction import Instruction
from firstcause.source.project import Project


def read(folder, source, asked=(), **files):
    written = {"train.py": source, **{f"{n}.py": t for n, t in files.items()}}
    for name, text in written.items():
        (folder / name).write_text(textwrap.dedent(text))
    instructions = tuple(Instruction(key, value, "") for key, value in asked)
    return facts(Code(Project(str(folder), sorted(written)), {}, instructions))


def values(folder, source, *keys, **more):
    return {(f.key, f.value, f.site.line) for f in read(folder, source, **more) if f.key in keys}
