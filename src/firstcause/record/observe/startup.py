"""Begin to observe this interpreter, before a line of the user's program has run."""

from __future__ import annotations

import functools
import os
import sys
from types import ModuleType
from typing import Any

from firstcause.record.observe import mainscript, session
from firstcause.record.observe.finder import Finder

# So many entries torch's flight recorder keeps, DDP's own collectives among them.
RECORDED = "2000"


def install(folder: str, before: frozenset[str]) -> None:
    """Arm this process: the marks' functions, the import hook, and the marked main script.

    ``before`` names the modules that were loaded before ours.
    """
    current = session.start(folder)
    current.main = mainscript.entered()
    after: dict[str, list[Any]] = {}
    finder = Finder(current, after)
    current.finder = finder
    if current.main is None:
        mainscript.enter_script(current, finder)
    if current.replay:
        # A fresh process that runs the user's code again is sealed before its first line.
        from firstcause.record.observe import arrival, group_of_one, one_rank, other_device, unstarted
        from firstcause.sandbox import seal, writers

        current.seal_report = seal.seal(os.environ["FIRSTCAUSE_SCRATCH"], current.keep_open(current.replay))
        finder.meet(writers.patches())
        current.arrival = arrival.wanted(current, finder)
        other_device.lead(finder)
        lead = one_rank.lead if one_rank.is_alone() else group_of_one.lead
        after.setdefault("torch.distributed.distributed_c10d", []).append(lead)
        after.setdefault("torch.nn.parallel.distributed", []).append(one_rank.without_reducing)
        after.setdefault("torch.utils.data.dataloader", []).append(unstarted.without_workers)
    else:
        after.setdefault("torch.distributed.distributed_c10d", []).append(_follow_ranks)
        audit = os.environ.get("FIRSTCAUSE_RANKS")
        if audit:
            from firstcause.record.observe import elsewhere

            # A copy that is run for a diagnosis only: what watches its ranks.
            current.audit = elsewhere.named(audit)()
            finder.meet(current.audit.patches())
    after.setdefault("torch.optim.optimizer", []).append(_hook_optimizers)
    after.setdefault("runpy", []).append(_mark_spawned_mains)
    sys.meta_path.insert(0, finder)
    module = mainscript.module_argument(sys.orig_argv) if sys.argv[:1] == ["-m"] else None
    if module is not None:
        sys.meta_path.insert(0, mainscript.ModuleMain(finder, module))
    os.register_at_fork(after_in_child=session.forked)
    # What we need of the standard library is loaded now, before the program's folder is on sys.path.
    from firstcause.record.observe import exceptions, marks  # noqa: F401

    current.imported = frozenset(sys.modules) - before


def _hook_optimizers(module: ModuleType) -> None:
    module.register_optimizer_step_pre_hook(session.before_step)


def _follow_ranks(module: Any) -> None:
    """A process that joins a group is a rank from then on: what follows one is loaded then.

    ``import torch`` imports this module in programs of one process too.
    """
    os.environ.setdefault("TORCH_FR_BUFFER_SIZE", RECORDED)
    original = module.init_process_group

    @functools.wraps(original)
    def init_process_group(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        current = session.current()
        try:
            if not current.off and (current.rank is None or current.rank.pid != os.getpid()):
                from firstcause.record.observe.ranks import Rank

                current.rank = Rank(session.current, module.get_rank(), module.get_world_size())
        except Exception:
            current.failed("rank")
        return result

    module.init_process_group = init_process_group


def _mark_spawned_mains(module: ModuleType) -> None:
    """Give children of multiprocessing's spawn the marked main script: runpy reads it by path there."""
    original: Any = module.__dict__["_get_code_from_file"]

    def get_code(*args):  # type: ignore[no-untyped-def]
        # (run_name, fname) -> (code, fname) until 3.11, (fname) -> code since 3.12.
        result = original(*args)
        finder = session.current().finder
        marked = finder.marked_code(args[-1]) if finder is not None else None
        if marked is None:
            return result
        return (marked, *result[1:]) if isinstance(result, tuple) else marked

    module.__dict__["_get_code_from_file"] = get_code
