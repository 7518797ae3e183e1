"""A tokenizer in the place of one that is not here: it splits at spaces, and knows no words."""

from __future__ import annotations

from typing import Any

# Whose sentences stand between two marks.
MARKED = ("bert", "electra", "mpnet", "funnel", "layoutlm")
BETWEEN = ("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
BEHIND = ("<s>", "</s>", "<pad>", "<unk>", "<mask>")
LONGEST = 512


def tokenizer(kind: str) -> Any:
    """A fast tokenizer with the special tokens that models of a kind have."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    is_marked = any(name in kind for name in MARKED) and "roberta" not in kind
    first, last, pad, unknown, mask = names = BETWEEN if is_marked else BEHIND
    made = Tokenizer(models.WordLevel({name: i for i, name in enumerate(names)}, unk_token=unknown))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(first, 0), (last, 1)],
    )
    if is_marked:
        special = {"cls_token": first, "sep_token": last}
    else:
        special = {"bos_token": first, "eos_token": last, "cls_token": first, "sep_token": last}
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token=pad,
        unk_token=unknown,
        mask_token=mask,
        model_max_length=LONGEST,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"][:: 1 if is_marked else 2],
        **special,
    )
