"""Observe the training of the process that asks for it: two lines in the code in place of ``firstcause run``.

What runs already cannot be marked any more: losses are seen where ``backward`` is called, gradients where the optimizer
steps, and no step's state is kept. A diagnosis runs the program again for the rest, as it does for ``firstcause run``.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from firstcause.installed import is_installed
from firstcause.record.folder import RunFolder, new_run_folder
from firstcause.record.observe import exceptions, session
from firstcause.record.supervise import conclude, policy, surroundings
from firstcause.record.supervise.launch import Ending
from firstcause.record.supervise.policy import Policy
from firstcause.schema import Run

if TYPE_CHECKING:
    import torch


class Observation:
    """One observed process, from the call of ``observe`` to its end."""

    def __init__(self, folder: RunFolder, run: Run, own: Policy) -> None:
        self.folder, self.run, self.own = folder, run, own
        self.process, self.began = os.getpid(), time.monotonic()
        # Python forgets the script's file before the functions of atexit are called.
        self.main = os.path.abspath(getattr(sys.modules["__main__"], "__file__", None) or run.folder)
        self.exit_code = 0
        self.held = ExitStack()
        self.held.enter_context(folder.held())

    def follow(self, model: torch.nn.Module | None, optimizers: list[torch.optim.Optimizer]) -> None:
        """Losses at ``Tensor.backward``; gradients at the steps of these optimizers, of all where none is given."""
        import torch

        from firstcause.record.observe import fingerprint

        current = session.start(self.folder.path)
        os.register_at_fork(after_in_child=session.forked)
        if optimizers:
            for one in optimizers:
                one.register_step_pre_hook(session.before_step)
        else:
            # torch.optim deletes the name of this module of its own.
            from torch.optim.optimizer import register_optimizer_step_pre_hook

            register_optimizer_step_pre_hook(session.before_step)
        backward = torch.Tensor.backward

        def observed(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            session.loss(tensor)
            return backward(tensor, *args, **kwargs)

        torch.Tensor.backward = observed
        current.journal.event(
            "first-step", versions=fingerprint.versions(), seed=torch.initial_seed(), tensors=[]
        )
        if model is not None:
            held = {id(p) for o in optimizers for g in o.param_groups for p in g["params"]}
            parameters = list(model.parameters())
            current.journal.event(
                "model",
                name=type(model).__name__,
                parameters=sum(p.numel() for p in parameters),
                trained=sum(p.numel() for p in parameters if p.requires_grad and (not held or id(p) in held)),
            )

    def raised(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """What ends the program, before whoever shows it."""
        if not issubclass(kind, SystemExit):
            self.exit_code = 1
            session.current().journal.event("unhandled", exception=exceptions.describe(error))

    def conclude(self) -> None:
        """The end of the process: the run gets its ending; a process that is killed leaves that to whoever looks next."""
        if os.getpid() != self.process:
            return
        session.current().journal.event("sources", files=sorted(_own_files(self.run.folder) | {self.main}))
        ending = Ending(self.exit_code, None, time.monotonic() - self.began)
        run = conclude.concluded(self.run, self.folder, ending)
        gone = policy.make_room(self.own, self.run.folder, run.id)
        self.folder.write_run(
            policy.without_secrets(replace(run, notes=(*run.notes, *filter(None, (gone,)))))
        )
        self.held.close()


def observe(model: Any = None, optimizer: Any = None) -> str:
    """Record this process's training from here to its end, as ``firstcause run`` does; gives the folder of the record.

    ``optimizer`` is one or a list of them; without it all are followed. Where the process is observed already, by
    ``firstcause run`` or in a diagnosis, nothing is done. A failure of ours is said on standard error, and the training
    goes on unrecorded.
    """
    known = os.environ.get("FIRSTCAUSE_RUN", "")
    if known or _observation is not None:
        return known or (_observation.folder.path if _observation is not None else "")
    try:
        return _begin(model, list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer])
    except Exception as error:  # noqa: BLE001 - the training is the user's, with a record or without
        _complain(error)
        return ""


_observation: Observation | None = None


def _begin(model: Any, optimizers: list[Any]) -> str:
    global _observation
    cwd = os.getcwd()
    own = policy.of_settings(cwd)
    revision, dirty = surroundings.revision(cwd)
    script = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "run"
    folder = new_run_folder(cwd, "".join(c if c.isalnum() or c in "_-" else "-" for c in script))
    run = Run(
        id=os.path.basename(folder.path),
        command=(sys.executable, *sys.orig_argv[1:]),
        folder=cwd,
        started=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        python=sys.version.split()[0],
        platform=sys.platform,
        git_revision=revision,
        git_dirty=dirty,
        environment={
            "variables": surroundings.environment(),
            "hardware": surroundings.hardware(),
            "recording": own.facts() | {"in_code": True},
        },
    )
    os.environ.update(own.environment())
    folder.begin(policy.without_secrets(run))
    made = Observation(folder, run, own)
    made.follow(model, [o for o in optimizers if o is not None])
    _observation = made
    shown = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _quietly(lambda: made.raised(kind, error, trace))
        shown(kind, error, trace)

    sys.excepthook = hook
    atexit.register(lambda: _quietly(made.conclude))
    return folder.path


def _quietly(act: Any) -> None:
    try:
        act()
    except Exception as error:  # noqa: BLE001 - as above
        _complain(error)


def _complain(error: Exception) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"firstcause: the record is not complete: {error}\n")


def _own_files(folder: str) -> set[str]:
    """The loaded source files that lie beneath the run's folder."""
    named = [getattr(m, "__file__", None) for m in list(sys.modules.values())]
    found = {os.path.abspath(f) for f in named if f and f.endswith(".py")}
    inside = (f for f in found if f.startswith(folder + os.sep) and not is_installed(f))
    return {f for f in inside if os.path.isfile(f)}
