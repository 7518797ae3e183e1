"""Facts of where a program ran: processes, ranks, nodes, network, cards, versions."""

from __future__ import annotations

from firstcause.triage.facts.rule import Rule

_CARD = (
    r"(?:RTX|GTX) ?(?:PRO )?A?\d{3,4}(?: ?Ti| ?SUPER)?|(?:[A-Z]{1,2}100|A10G?|A16|A30|A40|"
    r"A[2456]000|A800|H20|H200|H800|B200|B300|GB[23]00|GH200|P4|P40|"
    r"T4|L4|L20|L40S?|K80|M40|MI\d{2,3}X?|[2-5]0[5-9]0(?: ?Ti)?|Titan \w{1,4}|Gaudi ?\d?|"
    r"M[1-5](?: (?:Pro|Max|Ultra))?)"
)

RULES = (
    Rule(
        "pids",
        ("pid", "process"),
        r"\bpid(?:\(s\)|s)?[=: ]{1,3}\(?(\d{1,10})\b|\bProcess (\d{1,10}) has|\b(?:subprocess|Sending process) (\d{1,10})\b",
        number=True,
    ),
    Rule("ranks", ("rank",), r"\b(?:global_)?rank[s:= #]{1,3}(\d{1,5})\b", number=True),
    Rule("ranks_named", ("rank",), r"\b(rank ?\d{1,5})\b"),
    Rule(
        "builds", ("+cu", "+rocm", "+cpu"), r"\b(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?\+(?:cu|rocm|cpu)[\w.]{0,12})"
    ),
    Rule("local_ranks", ("local_rank",), r"\blocal_rank[:= ]{1,3}(\d{1,5})\b", number=True),
    Rule("addresses", (".",), r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?)(?![\w.])"),
    Rule(
        "environment", ("=",), r"(?<![\w])([A-Z][A-Z0-9]{1,30}_[A-Z0-9_]{1,60}=[^\s,;'\"`]{1,80})", case=True
    ),
    Rule("device_index", ("gpu ",), r"\bGPU (\d{1,3})\b(?! ?(?:hours?|gpus?|x\b))", number=True),
    Rule("arch", ("capability",), r"capability (?:of )?(\d{1,2}\.\d)\b"),
    Rule(
        "world_size",
        ("world", "nproc", "num_processes"),
        r"\b(?:world[_ ]size|nproc[_-]per[_-]node|num_processes)[=: ]{1,3}(\d{1,6})\b",
        number=True,
    ),
    Rule("tp_rank", ("tp",), r"\bTP(?:_?rank)?[ =]?(\d{1,3})\]", number=True),
    Rule(
        "seq",
        ("seqnum", "seq_num", "collective_seq", "work: "),
        r"\b(?:SeqNum|seq_num|collective_seq_id)=(\d{1,18})|last (?:enqueued|completed)(?: NCCL)? work: (\d{1,18})",
        number=True,
    ),
    Rule("timeout_ms", ("timeout(ms)",), r"Timeout\(ms\)=(\d{1,18})", number=True),
    Rule(
        "port",
        ("port", "errno", "address", "://"),
        r"\bport[=: ]{1,3}(\d{2,5})\b|(?:\]|\d|localhost):(\d{4,5})(?= \(errno|\b(?!:))",
        number=True,
    ),
    Rule(
        "interfaces",
        ("net/", "ifname", "interface"),
        r"\[\d{1,2}\]([\w-]{1,32}):[\da-f.:]{3,45}|IFNAME=([\w,^-]{1,64})",
    ),
    Rule(
        "interfaces",
        ("eth", "bond", "ib", "eno", "ens", "enp"),
        r"(?<![\w.])((?:eth|bond|ib|eno|ens|enp)\d[\w]{0,12})\b",
    ),
    Rule(
        "nodes",
        ("on ", "node", "host"),
        r"\b(?:on|node|host|hostname|nodelist)[=: ]{1,10}([a-z][a-z-]{1,24}\d[\w.-]{0,40})\b",
        case=True,
    ),
    Rule(
        "jobs",
        ("stepid", "jobid", "job_id", "job id"),
        r"\b(?:StepId|Job_?Id|job id)[= :]{1,2}(\d{1,12}(?:\.\d{1,6})?)",
    ),
    Rule("nodes", ("srun: error",), r"srun: error: ([\w.-]{1,80}): tasks? "),
    Rule("nodes", ("host",), r"(?m)^\s{0,8}host\s{1,12}: (\S{1,80})"),
    Rule("arch", ("sm_", "compute_"), r"\b((?:sm|compute)_\d{2,3}a?)\b"),
    Rule(
        "gpus",
        (*"0123456789", "titan", "gaudi"),
        rf"(?<![\w.-])((?:\d{{1,4}} ?x? ?)?(?:NVIDIA |GeForce |Tesla |Quadro |AMD |Instinct )*(?:{_CARD}))(?![\w.])",
    ),
    Rule(
        "world_sizes",
        ("gpu", "node", "card", "rank"),
        r"\b(\d{1,5})(?: ?x)? ?(?:gpus?|cards?|ranks|h100s|a100s)\b(?! ?-?hours)",
        number=True,
    ),
)
_LIBRARIES = (
    "pytorch[-_ ]lightning|lightning|pytorch|torchvision|torchaudio|torch|cudatoolkit|cuda|cudnn|"
    "nccl|vllm|sglang|transformers|"
    "accelerate|deepspeed|peft|trl|datasets|numpy|python|triton|flash[-_ ]?attn|"
    "flash[-_ ]?attention|xformers|bitsandbytes|"
    "ray|megatron(?:-core|-lm)?|apex|diffusers|tokenizers|safetensors|driver|tensorrt|jax|"
    "tensorflow|keras|unsloth|axolotl|"
    "llama[-_ ]?factory|ubuntu|gcc|glibc|slurm|timm|torchtune|monai|fairseq|detectron2|mmcv|mmdet|"
    "ultralytics|gloo|openmpi"
)
VERSION = (
    # "In PyTorch 2.6 and later" is what a message says of releases, and not what is installed.
    rf"(?-i:(?<!In ))\b({_LIBRARIES})(?: library| runtime| driver)?\s{{0,3}}(?:version|ver\.?)?(?: is| was|"
    rf" ==)?[\"']?\s{{0,3}}(?:==|>=|<=|~=|[=:@/-])?\s{{0,2}}[\"']?v?"
    r"(\d{1,4}\.\d{1,4}(?:\.\d{1,6}){0,3}(?:\.?(?:a|b|rc|post|dev)\d{1,10})?(?:\+[\w.]{1,30})?)"
    r"(?![\w%]|\.\d| and (?:later|above|newer))"
)
WHOLE_VERSION = (
    r"\b(cuda|cudnn|driver|python|tensorflow|ubuntu|transformers)(?: version)? (\d{1,4})(?![\w.:%-]|"
    r"\s?(?:error|gpus?|gb|\w+s\b))"
)
