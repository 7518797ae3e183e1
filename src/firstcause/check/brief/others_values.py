"""What is read of a key and says nothing of it: mixup's alpha, a formula's parts, epochs of warmup, places of layers."""

from __future__ import annotations

from firstcause.check.brief.excepted import begins_exception
from firstcause.check.brief.reading import Line, Reading

_OF = frozenset({"on", "of", "for", "over"})
# What speaks of a clipped ratio of policies, and of the noise of a diffusion.
_OF_POLICIES = frozenset(
    {"advantage", "discount", "entropy", "gae", "gamma", "lambda", "policy", "ppo", "ratio"}
)
_OF_NOISE = frozenset({"noise", "beta", "betas", "diffusion", "timesteps"})
# What a batch holds several samples of.
_GROUPS = frozenset(
    {"authors", "classes", "identities", "ids", "people", "persons", "products", "scenes", "speakers"}
)


def is_anothers_value(line: Line, reading: Reading) -> bool:
    """Whether a reading has what belongs to something else, or only tells which samples, layers or parts are meant."""
    return (
        _is_another_alpha(line, reading)
        or _counts_epochs(line, reading)
        or _is_in_formula(line, reading)
        or _tells_which(line, reading)
        or _is_of_all(line, reading)
        or _is_of_a_method(line, reading)
        or _are_places(line, reading)
        or _is_left_free(line, reading)
        or _is_newest_of_others(line, reading)
    )


def _is_another_alpha(line: Line, reading: Reading) -> bool:
    """ "Mixup with alpha=0.4", "focal loss with alpha 0.25": LoRA's is no part of one."""
    if reading.key != "lora_alpha" or not isinstance(reading.value, (int, float)):
        return False
    adapted = any(r.key in ("lora_r", "method") for r in line.readings)
    return reading.value < 1 and not adapted


def _is_of_a_method(line: Line, reading: Reading) -> bool:
    """ "Noise schedule linear, 1000 timesteps", "discount 0.99, clip 0.2", "32 identities with 4 images each"."""
    own = line.tokens[reading.first]
    # "1000 noise steps, cosine schedule": what stands behind a comma may be the rate's.
    near = reading.key in ("scheduler", "max_steps")
    spoken = [
        t for t in line.tokens if t.statement == own.statement and (t.segment == own.segment or not near)
    ]
    words = {w for t in spoken for w in t.text.split()}
    if near:
        of_noise = len(words & (_OF_NOISE | {"schedule"})) > 1 or reading.key == "max_steps"
        return "noise" in words and of_noise
    if reading.key == "max_grad_norm":
        return isinstance(reading.value, float) and reading.value < 0.5 and len(words & _OF_POLICIES) > 0
    if reading.key == "max_length":
        return bool({"virtual", "soft"} & set(line.words(reading.first, reading.last)))
    behind = {w for t in line.tokens[reading.last + 1 : reading.last + 3] for w in t.text.split()}
    return reading.key == "batch_size" and bool(behind & _GROUPS)


def _counts_epochs(line: Line, reading: Reading) -> bool:
    """ "3 warmup epochs", "30 epochs, 3 of them warmup": no steps."""
    if reading.key not in ("warmup", "warmup_steps"):
        return False
    after = line.words(reading.last + 1, reading.last + 2)
    of_them = line.words(reading.first + 1, reading.first + 3) == ["of", "them"]
    epochs = any(r.key == "epochs" and r.last < reading.first for r in line.readings)
    return after[:1] in (["epoch"], ["epochs"]) or (of_them and epochs)


def _is_in_formula(line: Line, reading: Reading) -> bool:
    """ "lr = 0.1 * batch / 256", "base lr 0.1 per 256 samples": what it comes to is not said."""
    tokens = line.tokens
    if reading.key == "batch_size":
        return any(t.text == "/" for t in tokens[reading.first : reading.last])
    if reading.key != "learning_rate":
        return False
    behind = tokens[reading.last + 1 : reading.last + 4]
    per = len(behind) == 3 and behind[0].text == "per" and behind[1].kind == "number"
    by_batch = len(behind) > 1 and behind[0].key == "batch_size" and behind[1].text == "/"
    return per or by_batch


def _tells_which(line: Line, reading: Reading) -> bool:
    """ "Skip steps whose gradient norm is above 10"."""
    return reading.first > 0 and line.tokens[reading.first - 1].text == "whose"


def _is_of_all(line: Line, reading: Reading) -> bool:
    """ "Weight decay of 1e-4 on all parameters" says what is decayed, and not what is trained."""
    if reading.key != "method" or reading.value != "full" or not reading.first:
        return False
    statement = line.tokens[reading.first].statement
    other = any(
        r.last < reading.first and line.tokens[r.first].statement == statement
        for r in line.readings
        if r is not reading
    )
    return other and "all" in line.tokens[reading.first].text and line.tokens[reading.first - 1].text in _OF


def _is_newest_of_others(line: Line, reading: Reading) -> bool:
    """ "The newest transformers (5)": where nothing is saved or kept, no checkpoints are counted."""
    named = "newest" in line.tokens[reading.first].text.split()
    spoken = any(
        t.has("save") or t.text.startswith(("keep", "kept", "checkpoint", "ckpt")) for t in line.tokens
    )
    return reading.key == "save_total_limit" and named and not spoken and "save" not in line.topic


def _is_left_free(line: Line, reading: Reading) -> bool:
    """ "All parameters except the embeddings are frozen": neither is everything trained, nor are they frozen."""
    own = [t for t in line.tokens if t.statement == line.tokens[reading.first].statement]
    frozen = any(t.text.startswith(("freez", "frozen")) for t in own)
    if (reading.key, reading.value) == ("method", "full"):
        return frozen and "all" in line.tokens[reading.first].text.split()
    around = line.tokens[max(0, reading.first - 4) : reading.last + 3]
    words = [w for t in around for w in t.text.split()]
    named = any(begins_exception(words[n:]) or words[n : n + 2] == ["all", "but"] for n in range(len(words)))
    return reading.key == "freeze" and reading.value != "backbone" and named and frozen


def _are_places(line: Line, reading: Reading) -> bool:
    """Whether layers are named by their numbers: "layers 0-5", "layers 8 to 15"."""
    tokens = line.tokens
    if reading.key != "num_layers":
        return False
    at = next((n for n in range(reading.first, -1, -1) if tokens[n].key == "num_layers"), -1)
    first = tokens[at + 1] if 0 <= at < len(tokens) - 1 else None
    if at > 0 and line.words(at - 1, at) == ["all"]:
        # "Then all layers for 7 more".
        return True
    if first is None or first.kind not in ("number", "range"):
        return False
    return first.kind == "range" or line.words(at + 2, at + 3) in (["to"], ["through"], ["until"])
