"""A failing call made once more and watched: in a forked child, or in a fresh process as soon as its model is there."""

from __future__ import annotations

from types import FrameType, FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from firstcause.record.observe import other_device, rng
from firstcause.record.observe.call import Call, is_bad, outputs_of
from firstcause.record.observe.reachable import Reachable
from firstcause.record.observe.replay import Replay
from firstcause.record.observe.saved import checksum

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder


class CallReplay(Replay):
    """One call, observed, and compared with the exception that it raised or the output that it gave."""

    def __init__(
        self,
        recorder: Recorder,
        around: Reachable,
        facts: dict[str, Any],
        result: int,
        error: Exception | None,
        value: Any,
        structure: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(recorder, None, error, result)
        self.window, self.parameters = [], []
        self.facts = facts
        self.expected = structure["outputs"] if structure else [checksum(t) for t in outputs_of(value)]
        self.devices = structure.get("devices", ["cpu"]) if structure else []
        self.outputs: list[int | None] = []
        self.bad = 0
        self.more: dict[str, Any] = {}
        self.view = SimpleNamespace(reachable=around, window=[], first_sequences={}, replay=self)

    def run(self, call: Call, frame: FrameType | None) -> None:
        """Make the call where the program made it, and leave the process."""
        positional, keywords = call.split()
        rng.set_global_state(rng.global_state() | call.rng)
        self.make(call.function, positional, keywords, torch.is_grad_enabled())

    def make(self, function: Any, positional: list[Any], keywords: dict[str, Any], grad: bool) -> None:
        """Call ``function`` from the line of the program that called it then."""
        self.recorder.replay = self
        raised: BaseException | None = None
        site = self.facts["call"]
        # Tensors of inference mode have no version counters, which the observer reads.
        with torch.inference_mode(False), torch.set_grad_enabled(grad):
            positional = [_plain(v) for v in positional]
            keywords = {k: _plain(v) for k, v in keywords.items()}
            self.observer = self.observe(self.view)
            try:
                value = at(site)(function, positional, keywords)
                for output in outputs_of(value):
                    self.outputs.append(checksum(output))
                    self.bad += is_bad(output)
                    self.loss(output)
            except BaseException as error:
                raised = error
            self.finish(raised, reached=raised is None)

    def _compare(self, error: BaseException | None, reached: bool) -> dict[str, Any]:
        facts: dict[str, Any] = {"status": "replayed", "passes": 1, "bad_outputs": self.bad} | self.more
        facts["raised"] = f"{type(error).__name__}: {error}" if error is not None else None
        refusal = self._refusal(error)
        if refusal is not None:
            return facts | refusal
        if self.facts["kind"] == "exception":
            compared = self._raised(self.facts["exception"][0], error)
            return other_device.judged(facts | compared, self.devices, error is not None)
        if error is not None:
            why = f"the call gave an output, its replay raised {type(error).__name__}: {error}"
            return other_device.judged(facts | {"exact": False, "why": why}, self.devices, False)
        equal = sum(a == b for a, b in zip(self.outputs, self.expected, strict=False))
        same = equal == len(self.expected) == len(self.outputs)
        why = (
            ""
            if same
            else f"{len(self.expected) - equal} of {len(self.expected)} outputs differ from the recorded call"
        )
        compared = {"exact": same, "why": why, "outputs": len(self.expected), "equal": equal}
        return other_device.judged(facts | compared, self.devices, bool(self.bad))


def _plain(value: Any) -> Any:
    """Arguments without tensors of inference mode."""
    if isinstance(value, torch.Tensor):
        return value.clone() if value.is_inference() else value
    if type(value) in (list, tuple):
        return type(value)(_plain(v) for v in value)
    return {k: _plain(v) for k, v in value.items()} if type(value) is dict else value


def at(site: dict[str, Any]) -> Any:
    """A function that makes one call from a line of the program, as its traceback and our places are to show it."""

    code = (lambda function, positional, keywords: function(*positional, **keywords)).__code__
    placed = code.replace(co_filename=site["file"], co_firstlineno=site["line"], co_name=site["function"])
    return FunctionType(placed, {})
