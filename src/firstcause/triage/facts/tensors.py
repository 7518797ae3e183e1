"""Facts of tensors: sizes, shapes, dtypes, devices, versions; and the figures of memory."""

from __future__ import annotations

from firstcause.triage.facts.rule import Rule

_SIZE = r"(\d{1,12}(?:\.\d{1,6})? ?(?:bytes|[KMGT]i?B))"

RULES = (
    Rule(
        "sizes",
        ("tensor a",),
        r"tensor a \((\d{1,18})\) must match the (?:existing )?size (?:of tensor b )?\((\d{1,18})\)",
        number=True,
    ),
    Rule(
        "sizes",
        ("size",),
        (
            r"Expected size (\d{1,18}) but got size (\d{1,18})|batch_size \((\d{1,18})\)|"
            r"\bsize (?:of )?\(?(\d{1,18})\)? ?(?:and|vs|!=|at) (\d{1,18})"
        ),
        number=True,
    ),
    Rule("sizes", ("actual",), r"expected (\d{1,18}), actual (\d{1,18})", number=True),
    Rule(
        "sizes",
        ("channels", "features", "elements", "classes"),
        r"\b(\d{1,18}) (?:channels?|features|elements|classes)\b",
        number=True,
    ),
    Rule("sizes", ("is invalid for input",), r"is invalid for input of size (\d{1,18})", number=True),
    Rule(
        "sizes",
        ("index", "target", "out of"),
        (
            r"\b(?:index|target|label) (-?\d{1,18}) is out of (?:bounds|"
            r"range)(?: for dimension \d{1,3})?(?: with size (\d{1,18}))?"
        ),
        number=True,
    ),
    Rule(
        "sizes",
        ("b", "g"),
        r"(?<![\w.])(\d{1,12}(?:\.\d{1,6})? ?[KMGT]i?B)\b|(?<![\w.])(\d{1,12}(?:\.\d{1,6})?[MGT])(?![\w/])",
    ),
    Rule("sizes", ("byte",), r"\b(\d{1,18} bytes?)\b"),
    Rule("shapes", ("x",), r"(?<![\w.])((?!0x)\d{1,12}(?:x\d{1,12}){1,7})(?![\w.]*\w)"),
    Rule(
        "shapes",
        ("[",),
        r"(?<!block: )(?<!thread: )(?<![\w\]])(\[\d{1,18}(?:, ?\d{1,18}){0,7},?\])(?!:)(?!\s?\[PG)",
        places="errors",
    ),
    Rule(
        "shapes",
        ("size(", "shape", "tensor"),
        r"(?:Size|shape|Tensor) ?\(?[=: ]{0,3}((?:\[|\()\d{1,18}(?:, ?\d{1,18}){0,7},?(?:\]|\)))",
    ),
    Rule(
        "dim",
        ("dimension", "dim"),
        r"\b(?:non-singleton dimension|in dimension|dimension|dim)[ =]{1,3}(-?\d{1,3})\b",
        number=True,
    ),
    Rule(
        "dtypes",
        ("float", "half", "int", "fp", "bf16", "bool", "complex", "nf4"),
        (
            r"(?<![\w.:])((?:torch\.)?(?:bfloat16|float(?:8_\w{1,12}|16|32|64)|int(?:4|8|16|32|64)|"
            r"uint8|complex(?:64|128))"
            r"|torch\.(?:half|double|float|long|int|bool)|half(?= precision)|(?:fp|FP)(?:8|16|32|64)|"
            r"(?:bf|BF)16|(?:tf|TF)32|nf4)(?![\w.]*\w)"
        ),
        case=True,
    ),
    Rule(
        "dtypes",
        ("type", "but", "expected", "got"),
        (
            r"\b((?:c10::)?(?:BFloat16|Half)|Float8_\w{1,12}|Float|Double|Long|Int|Short|Byte|Char|"
            r"Bool|ComplexFloat|ComplexDouble)\b"
        ),
        places="errors",
        case=True,
    ),
    Rule("dtypes", ("type (",), r"type \(([\w.:]{1,40})\)", places="errors"),
    Rule(
        "devices",
        ("cuda:", "cpu", "mps", "xpu", "npu", "hpu"),
        r"(?<![\w./-])(cuda:\d{1,3}|cpu|mps|xpu|npu|hpu)(?:(?=:\d)|(?![\w./(]*\w))",
    ),
    Rule("devices", ("meta",), r"\b(meta) (?:device|tensor)|device='?(meta)\b"),
    Rule(
        "versions_of_tensor",
        ("version",),
        r"is at version (\d{1,9}); expected version (\d{1,9})",
        number=True,
    ),
)
MEMORY = (
    Rule("tried", ("allocate",), rf"Tried to allocate {_SIZE}"),
    Rule("total", ("capac",), rf"total capac\w{{0,6}} of {_SIZE}|{_SIZE} total capacity"),
    Rule("free", ("free",), rf"of which {_SIZE} is free|; {_SIZE} free[;)]"),
    Rule("allocated", ("allocated",), rf"memory {_SIZE} is allocated by PyTorch|{_SIZE} already allocated"),
    Rule("reserved", ("reserved in total",), rf"{_SIZE} reserved in total"),
    Rule("cached", ("cached",), rf"{_SIZE} cached\)"),
    Rule("reserved_unallocated", ("unallocated",), rf"{_SIZE} is reserved by PyTorch but unallocated"),
    Rule("this_process", ("this process has",), rf"this process has {_SIZE} memory in use"),
    Rule("other_process", ("memory in use",), rf"(?<!this )Process \d{{1,10}} has {_SIZE} memory in use"),
    Rule("private_pools", ("private pools",), rf"with {_SIZE} allocated in private pools"),
    Rule(
        "free",
        ("free memory on device",),
        r"Free memory on device (?:\S{1,12} )?\(([\d.]{1,12})/[\d.]{1,12} ?GiB\)",
    ),
    Rule(
        "total",
        ("free memory on device",),
        r"Free memory on device (?:\S{1,12} )?\([\d.]{1,12}/([\d.]{1,12}) ?GiB\)",
    ),
    Rule("wanted", ("utilization",), rf"utilization \([\d.]{{1,8}}, {_SIZE}\)"),
    Rule("kv_needed", ("kv cache",), rf"\(?{_SIZE}\)? (?:GiB )?KV cache is needed"),
    Rule("kv_available", ("kv cache",), rf"available KV cache memory \({_SIZE}\)"),
)
