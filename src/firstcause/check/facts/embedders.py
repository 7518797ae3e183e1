"""sentence-transformers: the trainer, the loss, and how many tokens a text may have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.code import Code
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.values import known_value, value_of
from firstcause.check.makers import maker

LIBRARY = "sentence_transformers"
TRAINERS = ("SentenceTransformerTrainer", "SparseEncoderTrainer", "CrossEncoderTrainer")
MODELS = ("SentenceTransformer", "SparseEncoder", "CrossEncoder")
# Since 5.0 each kind of model has its own.
PACKAGES = ("", "cross_encoder.", "sparse_encoder.", "sentence_transformer.")
LOSS_MODULES = (
    "",
    "losses.",
    *(f"{kind}.losses." for kind in ("sentence_transformer", "sparse_encoder", "cross_encoder")),
)
LOSSES = {
    "MultipleNegativesRankingLoss": "info_nce", "CachedMultipleNegativesRankingLoss": "info_nce",
    "MultipleNegativesSymmetricRankingLoss": "info_nce", "GISTEmbedLoss": "info_nce", "CachedGISTEmbedLoss": "info_nce",
    "CosineSimilarityLoss": "cosine", "CoSENTLoss": "cosine", "AnglELoss": "cosine",
    "TripletLoss": "triplet", "BatchHardTripletLoss": "triplet", "BatchAllTripletLoss": "triplet",
    "ContrastiveLoss": "contrastive", "OnlineContrastiveLoss": "contrastive", "SoftmaxLoss": "cross_entropy",
    "MSELoss": "mse", "BinaryCrossEntropyLoss": "bce", "CrossEntropyLoss": "cross_entropy", "MarginMSELoss": "mse",
}  # fmt: skip


def embedder_facts(code: Code) -> Iterator[Fact]:
    """Facts of framework, loss and max_length of a project that imports sentence-transformers."""
    if not code.imports(LIBRARY):
        return
    for name in TRAINERS:
        for call in code.calls(*(f"{LIBRARY}.{where}{name}" for where in PACKAGES))[:1]:
            yield Fact("framework", "sentence-transformers", call.site, name)
            # Its trainer is one of transformers'.
            yield Fact("framework", "trainer", call.site, name, confirms=True)
    for call in code.calls(*(f"{LIBRARY}.{where}{name}" for where in PACKAGES for name in MODELS)):
        known = value_of(call, "max_length")
        if known is not None and isinstance(known.value, int):
            yield Fact(
                "max_length", known.value, known.site, "max_length=", "max_length", not known.overridable
            )
    for name, plain in LOSSES.items():
        for call in code.calls(*(f"{LIBRARY}.{where}{name}" for where in LOSS_MODULES)):
            yield Fact("loss", plain, call.site, name)
    for module in code.modules:
        for node in module.nodes(ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Attribute) and target.attr == "max_seq_length":
                made = maker(code, module, target.value)
                known = known_value(code, module, node.value)
                if made is not None and made.name.rpartition(".")[2] in MODELS and known is not None:
                    how = "max_seq_length="
                    yield Fact(
                        "max_length", known.value, known.site, how, "max_seq_length", not known.overridable
                    )
