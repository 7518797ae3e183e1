"""The trainers of transformers and trl that a program builds: with which model, settings, collator and data."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.check.code import Call, Code
from firstcause.check.constants import Constant
from firstcause.check.makers import first_maker, given_maker, makers_on_the_way
from firstcause.source.frames import Value

TRAINERS = ("transformers.Trainer", "transformers.Seq2SeqTrainer")
OF_TRL = tuple(
    f"trl.{n}Trainer" for n in ("SFT", "DPO", "GRPO", "KTO", "ORPO", "Reward", "PPO", "RLOO", "CPO")
)
ARGUMENTS = ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments")
CONFIGS = tuple(
    f"trl.{n}Config" for n in ("SFT", "DPO", "GRPO", "KTO", "ORPO", "Reward", "PPO", "RLOO", "CPO")
)
ADAPTERS = frozenset({"peft.get_peft_model", "peft.PeftModel.from_pretrained", ".add_adapter"})


@dataclass(frozen=True, eq=False)
class TrainerRun:
    """One trainer: its call, the call that made its settings, and the call that loads its model, where known."""

    call: Call
    settings: Call | None
    model: Call | None

    def setting(self, name: str) -> Constant | None:
        """The value of a training argument where the code alone says it."""
        return self.settings.constant(name) if self.settings is not None else None

    def sets(self, name: str) -> bool:
        """Whether a training argument is given, or may be."""
        return self.settings is None or self.settings.may_have(name)

    def is_on(self, name: str) -> bool:
        found = self.setting(name)
        return found is not None and found.value is True

    def given(self, name: str, position: int | None = None) -> ast.expr | None:
        """An argument of the trainer that is surely not None."""
        value = self.call.argument(name, position)
        if value is None or (isinstance(value.node, ast.Constant) and value.node.value is None):
            return None
        return value.node

    @property
    def adapted(self) -> bool:
        """Whether an adapter is trained, or may be: peft_config, or a model that went through peft."""
        model = self.call.argument("model", 0)
        if self.call.may_have("peft_config") or model is None:
            return True
        way = makers_on_the_way(self.call.code, model.module, model.node)
        added = self.call.code.called_names() & {"add_adapter", "get_peft_model", "load_adapter"}
        return bool(added) or any(c.name in ADAPTERS for c in way)


def trainer_runs(code: Code) -> list[TrainerRun]:
    """Every trainer of the program, the project's own subclasses of Trainer among them."""
    known: list[TrainerRun] | None = code.project.memory.get("trainer runs")
    if known is None:
        known = (
            [_run(code, c) for c in _calls(code)]
            if code.imports("transformers") or code.imports("trl")
            else []
        )
        code.project.memory["trainer runs"] = known
    return known


def _calls(code: Code) -> list[Call]:
    own = {d.node.name for d in code.subclasses_of(*TRAINERS)}
    return [*code.calls(*TRAINERS, *OF_TRL), *(c for name in sorted(own) for c in code.own_calls(name))]


def _run(code: Code, call: Call) -> TrainerRun:
    settings = given_maker(call, "args", 1)
    if settings is not None and settings.name not in (*ARGUMENTS, *CONFIGS):
        settings = None
    model: Value | None = call.argument("model", 0)
    loaded = first_maker(code, model.module, model.node) if model is not None and not model.path else None
    return TrainerRun(call, settings, loaded)
