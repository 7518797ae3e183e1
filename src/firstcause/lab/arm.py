"""One arm of a counterfactual, seen from inside: its change, and the figures of every step. Runs in a sealed child."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from firstcause.lab import places
from firstcause.lab.function_modes import Modes
from firstcause.lab.interventions import with_gradient
from firstcause.record.observe import unstarted

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder

# Weights are copied at each step to measure updates; above this many elements only norms of gradients are taken.
MEASURED_ELEMENTS = 20_000_000
# Seconds in which an arm that runs out of time tells what it has seen, and how many steps it takes at least.
TELLING, LEAST_STEPS = 4.0, 20


class Running:
    """Applies a change and writes down each step's loss, gradient norm, weight norm and update.

    ``finish`` is set by who made the arm: it takes the facts and ends the process.
    """

    def __init__(self, arm: dict[str, Any], plan: dict[str, Any], recorder: Recorder) -> None:
        module = importlib.import_module(f"firstcause.lab.interventions.{arm['change'] or 'control'}")
        self.change = module.Change(arm.get("settings") or {}, recorder)
        self.most = int(plan.get("steps", 1))
        # An audit that would be killed ends by itself before, with what it has seen; what it is compared with is as short.
        may_stop = arm["change"] == "audit" and not set(arm.get("settings") or {}) - {"watch"}
        self.until = plan.get("until", math.inf) - TELLING if may_stop else math.inf
        self.rows: list[dict[str, Any]] = []
        self.losses: list[torch.Tensor] = []
        self.divided = False
        self.calls = 0
        self.sites: dict[tuple[str, int], dict[str, Any]] = {}
        self.outer: set[tuple[str, int]] = set()
        self.site = ("", 0)
        self.last: Any = None
        self.before: list[torch.Tensor] = []
        self.modes = Modes()
        self.has_closure = False
        self.finish: Callable[[dict[str, Any]], None]

    def start(self) -> None:
        self.change.start()

    def values(self, values: dict[str, Any]) -> dict[str, Any]:
        changed: dict[str, Any] = self.change.values(values)
        return changed

    def loss(self, value: Any) -> None:
        if self.modes.are_off:
            # The optimizer calls the program's closure: lines of the user's do run in its step.
            self.has_closure = True
            self.modes.on()
        if not isinstance(value, torch.Tensor):
            return
        site = places.here()
        if value.grad_fn is not None and value.grad_fn is self.last:
            # accelerator.backward(loss) and the loss.backward() inside it: one call, and the inner line is its own.
            self.outer.add(self.site)
        else:
            self.losses.append(value.detach())
            self.calls += 1
            self.divided = self.divided or type(value.grad_fn).__name__ in ("DivBackward0", "MulBackward0")
            self.change.loss(value)
        self.last = value.grad_fn
        self.site = (site["file"], site["line"]) if site is not None else ("", 0)
        if site is not None:
            self.sites.setdefault(self.site, site)

    def arrived(self, optimizer: torch.optim.Optimizer) -> None:
        """Gradients are complete: measure, change, and end the arm where they are not finite."""
        self.modes.off()
        with torch.no_grad():
            held = with_gradient(optimizer)
            gradients = [_plain(p.grad) for p in held]
            norms = [float(g.float().norm()) for g in gradients]
            losses = [float(x.float().mean()) for x in self.losses]
            zeros = sum(int((g == 0).sum()) for g in gradients)
            elements = sum(g.numel() for g in gradients)
            row = {
                "loss": sum(losses) / len(losses) if losses else None,
                "last": losses[-1] if losses else None,
                "calls": self.calls,
                "grad_norm": math.sqrt(sum(n * n for n in norms)),
                "grad_zeros": zeros / elements if elements else 0.0,
                "lines": len(self._own_sites()),
                "lr": float(optimizer.param_groups[0].get("lr", 0.0)),
            }
        if not self.rows:
            row |= {"site": next(iter(self._own_sites()), None), "step_site": places.here()}
            row |= {"matrices": sum(p.dim() > 1 for p in held), "workers": unstarted.most()}
        self.losses, self.calls, self.last = [], 0, None
        self.rows.append(row)
        finite = all(bool(torch.isfinite(g).all()) for g in gradients) and all(map(math.isfinite, losses))
        if not finite:
            self.end("not-finite")
        self.change.before_step(optimizer)
        self.rows[-1] |= self.change.figures()
        with torch.no_grad():
            elements = sum(p.numel() for p in held)
            self.held = held
            self.before = [p.detach().clone() for p in held] if elements <= MEASURED_ELEMENTS else []
        if self.has_closure:
            self.modes.on()

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        """The optimizer has stepped: how far, beside how large the weights are."""
        self.modes.off()
        self.change.after_step(optimizer)
        if self.before and self.rows:
            with torch.no_grad():
                pairs = list(zip(self.held, self.before, strict=True))
                moved = math.sqrt(sum(float((p.float() - b.float()).norm()) ** 2 for p, b in pairs))
                weights = math.sqrt(sum(float(b.float().norm()) ** 2 for b in self.before))
                asked = [(_plain(p.grad) != 0) for p, _ in pairs if p.grad is not None]
                still = [(p == b) for p, b in pairs if p.grad is not None]
                live = sum(int(a.sum()) for a in asked)
                stuck = sum(
                    int((a & s).sum()) for a, s in zip(asked, still, strict=True) if a.shape == s.shape
                )
            self.rows[-1] |= {
                "weights": weights,
                "update": moved,
                "stuck": stuck / live if live else 0.0,
                "dtypes": sorted({str(p.dtype)[6:] for p in self.held}),
            }
            self.before = []
        self.modes.on()
        is_late = len(self.rows) >= LEAST_STEPS and time.monotonic() > self.until
        if len(self.rows) >= self.most or is_late:
            self.end("steps")

    def _own_sites(self) -> list[dict[str, Any]]:
        """The lines that call backward, without those that only hand the loss on."""
        return [site for key, site in self.sites.items() if key not in self.outer]

    def raised(self, error: BaseException) -> None:
        self.end("exception", {"type": type(error).__name__, "message": str(error)[:500]})

    def ended(self) -> None:
        """The program, or the pass of the failing step, is over; a scaler may have left out the step of a bad loss."""
        self.modes.off()
        with torch.no_grad():
            finite = all(math.isfinite(float(x.float().sum())) for x in self.losses)
        self.end("program" if finite else "not-finite")

    def end(self, how: str, exception: dict[str, Any] | None = None) -> None:
        self.finish(
            {
                "ended": how,
                "rows": self.rows,
                "divided": self.divided,
                "exception": exception,
                "facts": self.change.facts(),
            }
        )


def _plain(gradient: torch.Tensor) -> torch.Tensor:
    return gradient._values() if gradient.layout is torch.sparse_coo else gradient
