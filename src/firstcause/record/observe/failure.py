"""What is done once, at a failing step: write down what is known, and replay the step in a sealed child."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from typing import TYPE_CHECKING, Any

import torch

from firstcause.plain import to_plain
from firstcause.record import checked, private, redact
from firstcause.record.journal import file_size_limit
from firstcause.record.observe import at_failure, check, exceptions, one_rank, privacy, stretches, units
from firstcause.record.observe.dead_device import is_dead
from firstcause.record.observe.marks import CANDIDATES
from firstcause.record.observe.replay import Replay, Rewind
from firstcause.sandbox import busy, fork

if TYPE_CHECKING:
    from firstcause.record.observe.recorder import Recorder
    from firstcause.record.observe.session import Session

LONGEST = 30.0
EXCEPTIONS = 3

# What torch's engine says to a backward in a fork once it has threads for devices.
FORKED = "autograd's threading in combination with fork-based"


def numeric(
    recorder: Recorder,
    optimizer: torch.optim.Optimizer,
    verdict: check.Verdict,
    parameters: list[torch.Tensor],
    with_gradient: list[torch.Tensor],
) -> None:
    """A loss or gradient that is not finite, seen before the step that would spread it."""
    names = parameter_names(recorder)
    facts = {
        "kind": "nan",
        "step": recorder.step,
        "losses": list(verdict.losses),
        "bad_losses": list(verdict.bad_losses),
        "bad_gradients": [names.get(id(with_gradient[i]), f"parameter {i}") for i in verdict.bad_gradients],
        "gradients": len(with_gradient),
        "bad_parameters": [
            names.get(id(p), f"parameter {i}") for i, p in enumerate(parameters) if not check.finite(p)
        ],
    }
    try:
        _replay(recorder, "failures", facts, optimizer, None)
    except Exception as own:
        # What was asked for at a failure is done also where the failure could not be kept.
        if not is_dead(own):
            recorder.session.failed("numeric")
    at_failure.act(facts, recorder.session.journal)


def exception(recorder: Recorder, error: Exception) -> bool:
    """An exception that leaves the unit; True in the child that is to run the body again."""
    key = key_of(error)
    if key in recorder.replayed_exceptions or len(recorder.replayed_exceptions) >= EXCEPTIONS:
        return False
    recorder.replayed_exceptions.add(key)
    facts = {
        "kind": "exception",
        "step": recorder.step,
        "exception": exceptions.describe(error),
        "losses": [] if is_dead(error) else _plain(recorder.losses),
    }
    return _replay(recorder, "failures", facts, None, error)


def rehearse(recorder: Recorder, optimizer: torch.optim.Optimizer) -> None:
    """A healthy step replayed, to see whether a replay of this program is exact."""
    _replay(recorder, "rehearsals", {"kind": "rehearsal", "step": recorder.step}, optimizer, None)


def _replay(
    recorder: Recorder,
    where: str,
    facts: dict[str, Any],
    optimizer: torch.optim.Optimizer | None,
    error: Exception | None,
) -> bool:
    session = recorder.session
    if not os.path.isdir(session.folder):
        # It was removed: half of a record is not made again in its place.
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), session.folder)
    facts["name"] = f"{os.getpid()}-{recorder.step}-{facts['kind']}"
    rank = os.environ.get("RANK", "")
    if rank.isdigit():
        facts["rank"] = int(rank)
        facts |= one_rank.recorded()
    facts["unit"] = _unit(recorder)
    facts["not_replayable"] = why_not(recorder, optimizer is None)
    if recorder.window and where == "failures":
        # Imported late, since it needs this module's names of parameters.
        from firstcause.record.observe import saved

        # Written here and not in the child, which has a deadline.
        facts["snapshot"] = f"snapshots/{facts['name']}"
        written = saved.write(
            recorder, os.path.join(session.folder, facts["snapshot"]), optimizer, is_dead(error)
        )
        facts |= written._asdict()
        lacking = "; ".join(filter(None, written))
        if lacking:
            session.journal.event("note", text=f"of step {recorder.step}: {lacking}")
    result = split_off(session, where, facts, _seconds(recorder))
    if result is None:
        return False
    recorder.replay = Replay(recorder, optimizer, error, result)
    if optimizer is not None:
        raise Rewind
    return True


def split_off(session: Session, where: str, facts: dict[str, Any], seconds: float) -> int | None:
    """A sealed child for one replay: there, the descriptor for its result; here, None, with the facts written."""
    folder = os.path.join(session.folder, where)
    private.make_folder(folder)
    path = os.path.join(folder, facts["name"])
    if privacy.asked():
        facts = privacy.failure(facts)
    if not facts["not_replayable"]:
        scratch = os.path.join(session.folder, "scratch", facts["name"])
        private.make_folder(scratch)
        result = os.open(path + ".replay", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        # Whatever kills this process while it waits, the failure itself is known.
        _write(path + ".json", facts)
        session.forking = True
        outcome = fork.split(scratch, frozenset((result,)), seconds)
        session.forking = False
        if outcome is None:
            # The child. OpenMP of GNU hangs in a forked child, so one thread from here on.
            torch.set_num_threads(1)
            if session.finder is not None:
                # Loaded here, as all that seals: most runs never need it.
                from firstcause.sandbox import writers

                session.finder.meet(writers.patches())
            return result
        os.close(result)
        shutil.rmtree(os.path.join(session.folder, "scratch"), ignore_errors=True)
        replayed = _outcome(path + ".replay", outcome)
        if _needs_own_process(replayed):
            facts["refused_in_fork"] = True
        else:
            facts["replay"] = replayed
    _write(path + ".json", facts)
    session.journal.event("failure", folder=where, name=facts["name"])
    return None


def _needs_own_process(replayed: dict[str, Any]) -> bool:
    """Whether backward refused to run in a fork: torch sees a card, and autograd has threads of its own.

    The step is then replayed in a fresh process, when a diagnosis asks for it.
    """
    return FORKED in str((replayed.get("exception") or {}).get("message", "")) or FORKED in replayed.get(
        "why", ""
    )


def key_of(error: BaseException) -> tuple[str, int]:
    """What tells an exception from another: its type and the innermost line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return type(error).__name__, trace.tb_lineno if trace is not None else 0


def _outcome(path: str, outcome: fork.Outcome) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        os.unlink(path)
        if text.endswith("\n"):
            result: dict[str, Any] = json.loads(text)
            return result
    except (OSError, ValueError) as error:
        return {"status": "lost", "why": f"the replay's result cannot be read: {error}", "exact": False}
    ended = f"{outcome.status}, exit code {outcome.exit_code}, signal {outcome.signal}, after {outcome.seconds:.1f} s"
    return {"status": "lost", "why": f"the replay ended without a result ({ended})", "exact": False}


def why_not(recorder: Recorder, raised: bool) -> str:
    """The reason why a replay here is impossible, or an empty string."""
    if not recorder.window:
        return "the step ran outside of any loop or function that was marked"
    if recorder.deferred.late_norms is not None:
        return "the device told of the step when it was over: run `firstcause replay`"
    if recorder.pending and not raised and not recorder.fresh:
        recorder.session.journal.event(
            "note", text="gradients of earlier steps were not cleared before this step"
        )
    if not raised and not units.is_running(recorder.window[-1]):
        return "the marked body is not on the stack at the step: it is a generator, or runs in another thread"
    return no_fork()


def no_fork() -> str:
    """The reason why this process cannot be forked for a replay, or an empty string."""
    if threading.current_thread() is not threading.main_thread():
        return "the step runs in another thread than the main one"
    if torch.cuda.is_initialized():
        return "a process with a CUDA context cannot be forked: run `firstcause replay`"
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return "the step communicates with other ranks: run `firstcause replay`"
    return ""


def _seconds(recorder: Recorder) -> float:
    """How long a replay may take: as several steps of this program do, on a machine as busy as this one."""
    if not recorder.step or not recorder.window or CANDIDATES[recorder.window[-1].k].kind == stretches.KIND:
        # What an evaluation takes, no step has told.
        return LONGEST
    return min(LONGEST, (5 * recorder.step_seconds + 5) * busy.patience())


def _unit(recorder: Recorder) -> dict[str, Any] | None:
    if not recorder.window:
        return None
    candidate = CANDIDATES[recorder.window[-1].k]
    return {
        "file": candidate.path,
        "line": candidate.line,
        "kind": candidate.kind,
        "function": candidate.function,
        "names": list(candidate.names),
        "passes": len(recorder.window),
    }


def parameter_names(recorder: Recorder) -> dict[int, str]:
    """The name of every parameter that a reachable module holds: the path of the module, then its own."""
    return {
        id(p): f"{path}.{name}"
        for path, module in reversed(list(recorder.reachable.modules.items()))
        for name, p in module.named_parameters()
    }


def names_of(recorder: Recorder, optimizer: torch.optim.Optimizer, count: int) -> tuple[str, ...]:
    """Journal columns for the gradient norms of an optimizer's parameters."""
    names = parameter_names(recorder)
    held = [p for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
    return tuple("grad_norm/" + names.get(id(p), str(i)) for i, p in enumerate(held[:count]))


def _plain(losses: list[torch.Tensor]) -> list[float]:
    return [float(x.float().sum()) for x in losses]


def _write(path: str, facts: dict[str, Any]) -> None:
    text = checked.dumps(redact.value(to_plain(facts), redact.held()))
    if len(text) > file_size_limit():
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    with open(path + ".new", "w", encoding="utf-8", opener=private.opener) as file:
        file.write(text)
    os.replace(path + ".new", path)
