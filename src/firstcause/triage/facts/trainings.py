"""Facts of a training: steps, epochs, losses, rates, settings, and the numbers that somebody gives in words."""

from __future__ import annotations

from firstcause.triage.facts.rule import Rule

_NUMBER = r"-?\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?"
_FILLER = (
    r"(?!(?:and|or|with|to|the|is|are|was|of|in|on|at|for|from|then|but|out|now|as|by|if|so|i|it|we|my|"
    r"not|per|vs|than|that|this|already|only|just)\b)"
)
_VALUE = (
    rf"(?:{_NUMBER}\b%?|True\b|False\b|None\b|'[^'\n]{{0,60}}'|\"[^\"\n]{{0,60}}\"|"
    rf"\[[^\[\]\n]{{0,60}}\]|[A-Za-z][\w./:-]{{0,60}}(?![\w.(\[]))"
)

RULES = (
    Rule(
        "steps",
        ("step", "iter", "batch"),
        (
            r"\b(?:global_?step|step|iteration|iter|it|batch_idx)s?[\"']?(?: is| no\.?|"
            r" number)?[ #=:@]{1,3}(\d{1,10})\b(?![.%])|\b(\d{1,10})(?:k|ish)? (?:steps|iterations|"
            r"iters|batches)\b"
        ),
        number=True,
    ),
    Rule("steps", ("%|",), r"%\|[^|\n]{0,200}\| ?(\d{1,10})/(\d{1,10})\b", number=True),
    Rule(
        "epochs",
        ("epoch",),
        r"\bepochs?[\"']?[ #=:]{1,3}(\d{1,6})\b(?!\.\d)|\b(\d{1,6}) epochs\b",
        number=True,
    ),
    Rule("epochs", ("epoch",), r"\bepoch[\"']?[ =:]{1,3}(\d{1,6}\.\d{1,6})\b"),
    Rule(
        "losses",
        ("loss",),
        (
            rf"\bloss\w{{0,20}}[\"']?(?:\s?[=:(]{{1,2}}\s?| | is | of | at | prints | stays at |"
            rf" stuck at | around | from | started | starts at ){{1,2}}({_NUMBER}|nan|inf)\b"
        ),
    ),
    Rule(
        "losses",
        ("loss",),
        r"\bloss\b[^\n]{0,60}?((?:\d{1,9}\.\d{1,9}(?:,? (?:then |and |-> ?|→ ?)?)){1,20}(?:nan|\d{1,9}\.\d{1,9}))",
    ),
    Rule(
        "lr",
        ("lr", "learning"),
        rf"\b((?:lr|learning[_ -]rate)[\"']?(?:\s?[=:]\s?| (?:of |is |to )?)(?:{_NUMBER}|\d{{1,2}}e-\d))\b",
    ),
    Rule(
        "rate",
        ("out of", " in ", " of ", "every"),
        (
            r"\b((?:one|1|two|2|three|\d{1,6})(?: [a-z]{1,14})? (?:out of|in every|in|of)(?: every|"
            r" the)? \d{1,9}(?: [a-z]{1,14})?)\b"
        ),
        places="words",
    ),
    Rule(
        "rate",
        ("time", "once", "twice"),
        (
            r"\b((?:once|twice|\d{1,6} times|\d{1,6}x) (?:in|a|an|per|every|each)"
            r"(?: (?:a|an|the|about|roughly|~))? ?~?\d{0,9}k? ?[a-z]{1,14})\b"
        ),
        places="words",
    ),
    Rule(
        "rate",
        ("per", "/", "a", "each", "every"),
        (
            r"(?<![\w.])(\d{1,9}(?:\.\d{1,4})? ?(?:[KMGT]i?B|%|ms|W|samples|tokens|images) ?(?:per|an?|each|every|/)"
            r" ?(?:second|sec|s|minute|min|hour|h|day|step|epoch|batch|iteration|call|request|validation|night))\b"
        ),
        places="words",
    ),
    Rule("rate", ("every",), r"\b(every \d{1,6}(?:st|nd|rd|th)? [a-z]{1,14})\b", places="words"),
    Rule("settings", ("=",), rf"(?<![\w.\]])([A-Za-z_][\w.]{{0,60}} ?= ?{_VALUE})", places="words"),
    Rule("settings", ("--",), rf"(?<!\S)(--?[a-z][\w-]{{1,60}}[= ]{_VALUE})", places="words"),
    Rule(
        "settings",
        (
            "bs",
            "lr",
            "batch",
            "seq",
            "length",
            "rank",
            "rate",
            "decay",
            "accum",
            "workers",
            "epochs",
            "layers",
            "heads",
            "hidden",
            "dropout",
        ),
        (
            rf"\b((?:bs|lr|batch[_ ]?size|batch|seq(?:uence)?[_ ]?len(?:gth)?|max[_ ]length|"
            rf"learning rate|weight decay|dropout|num[_ ]workers|accumulation(?: steps)?|tp|pp|"
            rf"dp)(?: of| is)? {_NUMBER})\b"
        ),
        places="words",
    ),
    Rule(
        "calls",
        ("nn.", "torch.", "f.", "cv2.", "np.", "numpy.", "dist.", "pil.", "queue.", "librosa.", "optim."),
        r"(?<![\w.])((?:nn|torch|F|cv2|np|numpy|dist|PIL|queue|librosa|optim)\.[A-Za-z_][\w.]{1,60}(?:\([^()\n]{0,80}\))?)",
        places="words",
        case=True,
    ),
    Rule(
        "models",
        (
            "gpt",
            "llama",
            "qwen",
            "bert",
            "t5",
            "mistral",
            "mixtral",
            "gemma",
            "phi",
            "resnet",
            "vit",
            "unet",
            "clip",
            "whisper",
            "deepseek",
            "glm",
            "bloom",
            "opt-",
            "falcon",
            "yolo",
            "gan",
            "qwq",
            "vae",
            "lstm",
        ),
        (
            r"(?<![\w./])((?:[\w.-]{1,40}/)?(?:gpt|llama|qwen|qwq|bert|roberta|distilbert|flan|t5|"
            r"mistral|mixtral|gemma|phi|resnet|vit|unet|clip|whisper|deepseek|chatglm|glm|bloom|opt-|"
            r"falcon|yolo|stylegan|lstm|vq-?vae|vae)[\w.-]{0,60}(?: \d{1,4}(?:\.\d)?[BM]\b)?)(?![\w-])"
        ),
        places="words",
    ),
    Rule("names", ("'", '"', "`"), r"(?<!\w)['\"`]([\w./:<>,\[\] -]{1,60})['\"`](?!\w)", places="words"),
    Rule(
        "files",
        (".",),
        (
            r"(?<![\w./~-])((?:~|\.{1,2})?/?(?:[\w.-]{1,80}/){0,12}[\w.-]{1,80}\.(?:pth?|bin|"
            r"safetensors|ckpt|json|jsonl|ya?ml|toml|py|ipynb|csv|parquet|pkl|npz|npy|lmdb|h5|log|err|"
            r"out|sh|tar|cfg|zip|txt))(?![\w/])"
        ),
    ),
    Rule(
        "files",
        ("file", "directory", "in archive"),
        r"(?:file or directory|in archive|file|open): ['\"]([^'\"\n]{1,200})['\"]",
    ),
    Rule(
        "numbers",
        (*"0123456789",),
        (
            rf"(?<![\w.\-/:])(\d{{1,12}}(?:[.,]\d{{1,12}}){{0,3}}(?:e[+-]?\d{{1,3}}|[KMBGT]B?\b|"
            rf"k\b)?(?: ?%|(?: {_FILLER}[A-Za-z]{{1,20}}\b)?))"
        ),
        places="words",
        case=True,
    ),
    Rule(
        "speed",
        ("/s", "/it"),
        r"(?<![\w.])(\d{1,9}(?:\.\d{1,4})? ?(?:s/it|(?:it|samples|tokens|tok|imgs?|steps|batches|MB|GB)/s))\b",
    ),
    Rule(
        "loss_scale",
        ("scale",),
        r"\bloss[ _]scale(?: to| is| of)?[: =]{1,3}(\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?)"
        r"|reducing to (\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,3})?)",
    ),
    Rule(
        "gradient_norms",
        ("norm",),
        rf"\bgrad(?:ient)?[_ ]?norm[\"']?(?: is| of)?[ =:]{{1,3}}({_NUMBER}|nan|inf)\b",
    ),
    Rule("percentages", ("%",), r"(?<![\w.])(\d{1,3}(?:\.\d{1,3})? ?%)(?!\|)"),
    Rule(
        "ranges",
        ("-", "to", "\u2013"),
        r"(?<![\w.-])(\d{1,9}(?:\.\d{1,4})?(?: ?[-\u2013] ?| to )\d{1,9}(?:\.\d{1,4})?(?: ?%| ?[A-Za-z]{1,10}\b)?)",
        places="words",
    ),
    Rule(
        "durations",
        ("s", "m", "h", "d"),
        r"(?<![\w.])(\d{1,9}(?:\.\d{1,4})? ?(?:[mµnu]?s|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|days?))\b",
        places="words",
    ),
    Rule(
        "durations",
        ("時間", "分", "秒", "小时", "小時", "天", "시간", "분", "초"),
        r"(?<![\w.])(\d{1,9}(?:\.\d{1,4})? ?(?:時間|分钟|分間|分鐘|分|秒|小时|小時|天|日間|시간|분|초))",
        places="words",
    ),
    Rule(
        "factors",
        ("x", "times"),
        r"(?<![\w.])(\d{1,6}(?:\.\d{1,3})? ?(?:x|times))(?!\w)",
        places="words",
    ),
    Rule("steps", ("checkpoint-", "step"), r"\b(?:checkpoint|step|iter|ckpt)[-_](\d{1,9})\b", number=True),
    Rule(
        "schedules",
        ("cosine", "linear", "constant", "warmup", "polynomial", "plateau", "onecycle", "one-cycle"),
        (
            r"\b(cosine|linear(?= (?:schedul|decay|warm))|constant(?= (?:lr|learning|schedul))|polynomial|"
            r"ReduceLROnPlateau|OneCycle\w{0,4})\b"
        ),
        places="words",
    ),
    Rule("guard", ("last reason",), r"last reason: (?:\d{1,6}/\d{1,6}: )?([^\n]{1,160})"),
    Rule(
        "calls",
        ("(",),
        r"(?<![\w.])([A-Z][A-Za-z0-9]{1,40}\((?:\d{1,9}|[a-z_]\w{0,30})(?:, ?[\w.=]{1,40}){0,6}\))",
        places="words",
        case=True,
    ),
    Rule(
        "setup",
        (),
        r"\b(DDP|FSDP2?|ZeRO-?[123]|DeepSpeed|Q?LoRA|AMP|autocast|GradScaler|torch\.compile|gradient[_ ]checkpointing|"
        r"NCCL|gloo|AdamW?|SGD|RMSprop|Adafactor|Lion|LBFGS|DataParallel|device_map|bitsandbytes|Docker|slurm|Kubernetes|"
        r"Windows|WSL2?|macOS|Colab|Kaggle)\b",
        places="words",
    ),
)
