"""Facts of a failure itself: kernels, asserts, exits, signals, codes, names in messages."""

from __future__ import annotations

from firstcause.triage.facts.rule import Rule

RULES = (
    Rule("op", ("backward",), r"\b([A-Z]\w{1,60}Backward\d{0,2})\b", case=True),
    Rule("op", ("output",), r"which is output \d{1,3} of (?:the )?([\w.:]{1,80})"),
    Rule("op", ("optype=", "op_type", "opname"), r"(?:OpType|op_type|opName)[=:]\s?\"?(\w{1,60})"),
    Rule("op", ("kernel",), r"\b([a-z][\w:]{0,80}_kernel\w{0,60})\b", case=True),
    Rule("op", ("deterministic implementation",), r"\b([\w:.]{2,80}) does not have a deterministic"),
    Rule("op", ("not implemented for",), r"\"([\w.:]{2,80})\" not implemented for"),
    Rule("op", ("aten::", "prims::"), r"\b((?:aten|prims)::\w{1,60}(?:\.\w{1,40})?)"),
    Rule("op", ("block: [",), r"(?::\d{1,6}: |\bvoid )(?:void )?([A-Za-z_]\w{2,100})(?:\(\))?: block: \["),
    Rule(
        "native_frames",
        (".cu", ".cpp", ".h"),
        r"(?<![\w.])((?:[\w.-]{1,60}/){0,12}[\w-]{1,80}\.(?:cuh?|cpp|hpp|h):\d{1,6})\b",
    ),
    Rule("assert", ("assertion",), r"Assertion [`'\u2018\"](.{1,200}?)[`'\u2019\"] ?failed", places="all"),
    Rule(
        "exit_code",
        ("exit", "code", "status"),
        (
            r"\b(?:exit ?code|exit status|return ?code|exited with(?: exit)? code|"
            r"terminated with code)\s{0,12}[:=]?\s?\(?(-?\d{1,5})\b"
        ),
        number=True,
    ),
    Rule(
        "signal", ("sig",), r"\b(SIG(?:KILL|TERM|SEGV|ABRT|BUS|INT|FPE|ILL|HUP|PIPE|USR1|XCPU))\b", case=True
    ),
    Rule(
        "signal",
        ("bus error", "segmentation fault", "floating point exception", "aborted (core"),
        r"\b(Bus error|Segmentation fault|Floating point exception|Aborted(?= \(core))",
    ),
    Rule("signal", ("signal",), r"killed by signal:? (\w[\w ]{1,24})|\bsignal[: ]{1,2}(\d{1,2})\b"),
    Rule(
        "error_code",
        ("error", "xid"),
        r"\b(?:CUDA |NCCL |runtime |Xid )?(?:Error|error code|Xid)[ :(]{1,2}(\d{1,4})\b(?!\.\d)",
        number=True,
    ),
    Rule(
        "signal",
        ("killed", "exit", "signal", "kill"),
        r"(?:killed|exit\w{0,4}|signal|kill)[ (:=]{1,3}(-\d{1,2})\b",
    ),
    Rule("errno", ("errno",), r"\berrno[:= ]{1,2}(\d{1,4})\b", number=True),
    Rule("global", ("global",), r"GLOBAL ([\w.]{1,120}) (?:was|is) not"),
    Rule("keys", ("keys",), r"following keys: ([\w, ]{1,200}\w)"),
    Rule("keys", ("size mismatch",), r"size mismatch for ([\w.]{1,160}):"),
    Rule("param_indices", ("parameter",), r"Parameter at index (\d{1,7})", number=True),
    Rule("parameters", ("parameter",), r"Parameter at index \d{1,7} with name ([\w.]{1,160})"),
    Rule(
        "worker",
        ("worker",),
        r"worker(?: process|_id| id|=| #| )(?:process |id )?(\d{1,4})\b",
        number=True,
        places="errors",
    ),
    Rule("names", ("'",), r"'([^'\n]{1,80})'", places="errors"),
    Rule("names", ("`",), r"`([^`\n]{1,80})`", places="errors"),
    Rule("attribute", ("attribute",), r"has no attribute '(\w{1,80})'"),
    Rule(
        "module",
        ("module named", "cannot import name"),
        r"No module named '([\w.]{1,120})'|cannot import name '(\w{1,80})'",
    ),
    Rule("class", ("state_dict for",), r"loading state_dict for (\w{1,80})"),
    Rule(
        "parameters",
        ("did not receive grad",),
        r"Parameters which did not receive grad for rank \d{1,6}: ([\w., ]{1,300}\w)",
    ),
    Rule(
        "parameters",
        (".",),
        r"(?<![\w./])([a-z_]\w{0,60}(?:\.\w{1,60}){1,11}\.[a-z_0-9]\w{0,60})(?![\w(/]|\.\w)",
        places="errors",
        case=True,
    ),
    Rule(
        "figures",
        (*"0123456789",),
        r"(?<![\w.\-\[])(-?\d{1,20}(?:\.\d{1,9})?(?:e[+-]?\d{1,3})?)(?![\w.]*\w)",
        places="errors",
    ),
)
