"""What the code does, by the keys of instructions: each value with where it stands and how it was found."""

from __future__ import annotations

from firstcause.check.code import Code
from firstcause.check.facts.arguments import argument_facts
from firstcause.check.facts.augmentation import augmentation_facts
from firstcause.check.facts.best import best_facts
from firstcause.check.facts.commands import command_facts
from firstcause.check.facts.configured import configured_facts
from firstcause.check.facts.cuts import cut_facts
from firstcause.check.facts.data import data_facts
from firstcause.check.facts.defaults import default_facts
from firstcause.check.facts.derived import derived_facts
from firstcause.check.facts.devices import device_facts
from firstcause.check.facts.embedders import embedder_facts
from firstcause.check.facts.entries import entry_facts
from firstcause.check.facts.evaluations import evaluation_facts, paced_facts
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.framework import framework_facts
from firstcause.check.facts.generation import generation_facts
from firstcause.check.facts.inputs import input_facts
from firstcause.check.facts.lambdas import lambda_facts
from firstcause.check.facts.layers import layer_facts
from firstcause.check.facts.loops import loop_facts
from firstcause.check.facts.losses import loss_facts
from firstcause.check.facts.models import model_facts
from firstcause.check.facts.named import named_facts, unstated_facts, written_paths
from firstcause.check.facts.networks import network_facts
from firstcause.check.facts.orders import order_facts
from firstcause.check.facts.outputs import output_facts
from firstcause.check.facts.parted import parted_facts
from firstcause.check.facts.precision import precision_facts
from firstcause.check.facts.replayed import replayed_facts
from firstcause.check.facts.secrets import secret_facts
from firstcause.check.facts.sharding import sharding_facts
from firstcause.check.facts.sized import sized_facts
from firstcause.check.facts.structured import structured_facts
from firstcause.check.facts.updates import update_facts

READERS = (
    argument_facts,
    derived_facts,
    precision_facts,
    model_facts,
    sharding_facts,
    loop_facts,
    update_facts,
    lambda_facts,
    data_facts,
    replayed_facts,
    parted_facts,
    input_facts,
    cut_facts,
    order_facts,
    output_facts,
    framework_facts,
    generation_facts,
    command_facts,
    network_facts,
    sized_facts,
    layer_facts,
    loss_facts,
    embedder_facts,
    augmentation_facts,
    evaluation_facts,
    paced_facts,
    best_facts,
    structured_facts,
    secret_facts,
    named_facts,
    configured_facts,
)

__all__ = ["Fact", "facts"]


def facts(code: Code) -> tuple[Fact, ...]:
    """Every fact of a project's code, each once, in the order of the readers; what an earlier one says of a place stands."""
    found: dict[tuple[str, str, str, int], Fact] = {}
    for read in READERS:
        for fact in read(code):
            found.setdefault((fact.key, repr(fact.value), fact.site.file, fact.site.line), fact)
    for fact in default_facts(code, tuple(found.values())):
        found.setdefault((fact.key, repr(fact.value), fact.site.file, fact.site.line), fact)
    stated = {f.key for f in found.values()}
    for fact in (*unstated_facts(code, stated), *written_paths(code, stated), *entry_facts(code, stated)):
        found.setdefault((fact.key, repr(fact.value), fact.site.file, fact.site.line), fact)
    for fact in device_facts(code, tuple(found.values())):
        found.setdefault((fact.key, repr(fact.value), fact.site.file, fact.site.line), fact)
    return tuple(found.values())
