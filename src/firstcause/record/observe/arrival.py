"""In a fresh sealed process: when the failing call can be made again, and with what.

The program builds its model itself. The call is made at its own site where the program comes there, and else as
soon as the program begins to wait for requests, which a sealed process never gets: it listens, or stands still, or
has come to its end. The model is told by its class and the shapes of its tensors, and gets the recorded ones.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from firstcause.record.observe.call_sites import CallSite
    from firstcause.record.observe.finder import Finder
    from firstcause.record.observe.session import Session

CALL = "FIRSTCAUSE_CALL"
# The main thread waits if it stands at one instruction this many times in a row and the process hardly computes.
LOOKS, PAUSE, BUSY = 4, 0.4, 0.1


class Arrival:
    """Watches for the moment; ``make`` then ends the process."""

    def __init__(self, session: Session, finder: Finder) -> None:
        from firstcause.record.observe.fresh import failure_to_replay

        self.session = session
        self.folder, self.facts = failure_to_replay()
        self.key = self.facts["call"]["key"]
        self.changed = os.environ[CALL] == "changed"
        self.lock = threading.Lock()
        self.made = False
        self.wait = threading.Event().wait
        atexit.register(self.at_end)
        finder.meet({"socket": self._listen})
        if "socket" in sys.modules:
            self._listen(sys.modules["socket"])
        threading.Thread(target=self._watch, daemon=True, name="firstcause").start()

    # ------------------------------------------------------------------ the moments

    def at_site(self, site: CallSite, function: Any, owner: Any) -> None:
        """The program is about to make a call: the recorded one is made in its place, if it is this one."""
        if site.key == self.key:
            self.try_now(owner)

    def at_end(self) -> None:
        """The program has ended; what it built is still there."""
        self.try_now(None)

    def _listen(self, module: Any) -> None:
        """A server that listens is ready; the socket itself stays unbound."""
        arrival = self

        def bind(self: Any, address: Any) -> None:
            """Nothing is bound in a sealed process."""

        def listen(self: Any, *backlog: int) -> None:
            arrival.try_now(None)

        def accept(self: Any) -> Any:
            arrival.try_now(None)
            # Nobody will ever connect.
            while True:
                arrival.wait(PAUSE)

        module.socket.bind, module.socket.listen, module.socket.accept = bind, listen, accept
        module.getfqdn = lambda name="": name or "localhost"

    def _watch(self) -> None:
        main = threading.main_thread().ident
        before: tuple[int, int] | None = None
        stood, used = 0, time.process_time()
        while True:
            self.wait(PAUSE)
            frame = sys._current_frames().get(main or 0)
            now = (id(frame), frame.f_lasti) if frame is not None else None
            busy, used = time.process_time() - used > BUSY, time.process_time()
            stood = stood + 1 if now == before and not busy else 0
            before = now
            if stood >= LOOKS:
                self.try_now(None)
                stood = 0

    # ------------------------------------------------------------------ the call

    def try_now(self, owner: Any) -> None:
        """Make the call if its model is there; it does not return then."""
        if "torch" not in sys.modules or not self.lock.acquire(blocking=False):
            return
        try:
            self._make(owner)
        except Exception:
            # Nothing better will come: the program would wait for ever.
            self.session.failed("the replay of a call")
            os._exit(1)
        self.lock.release()

    def _make(self, owner: Any) -> None:
        import torch

        from firstcause.record.observe import call_saved, rng, saved
        from firstcause.record.observe.call_replay import CallReplay
        from firstcause.record.observe.reachable import Reachable

        structure, tensors = saved.load(self.folder)
        owners = [owner] if owner is not None else []
        if not owners:
            kind = structure["class"]
            owners = [o for o in gc.get_objects() if call_saved.class_of(o) == kind]
        # A program that was changed on purpose may have tensors of other shapes: they stay as it made them.
        owners = [o for o in owners if self.changed or call_saved.shapes_of(o) == structure["shapes"]]
        if not owners:
            return
        chosen = owners[0]
        module = call_saved.module_of(chosen)
        lacking = [
            x for i, d in enumerate(structure["arguments"]) for x in call_saved.lacking(d, f"argument {i}")
        ]
        lacking += [x for k, d in structure["keywords"].items() for x in call_saved.lacking(d, k)]
        if module is not None and structure["state"] is not None:
            with torch.no_grad():
                for name, tensor in call_saved.state_of(module).items():
                    key = structure["state"].get(name)
                    if key is not None and tensors[key].shape == tensor.shape:
                        tensor.data.copy_(tensors[key])
        around = Reachable()
        if module is not None:
            around.modules[structure["path"] or "model"] = module
        recorder = self.session.ready()
        if recorder is None:
            return
        replay = CallReplay(recorder, around, self.facts, self.session.result_fd, None, None, structure)
        replay.more = {"fresh": True}
        if lacking:
            replay.more["lacking"] = lacking
        if structure["state"] is None:
            replay.more["own_state"] = True
        rng.set_global_state(rng.global_state() | saved.decode_rng(structure["rng"], tensors))
        function = getattr(chosen, structure["method"]) if structure["method"] else chosen
        positional = [saved.decode(d, tensors, None) for d in structure["arguments"]]
        keywords = {k: saved.decode(d, tensors, None) for k, d in structure["keywords"].items()}
        replay.make(function, positional, keywords, structure["grad"])


def wanted(session: Session, finder: Finder) -> Arrival | None:
    """In a process that is to repeat a call: what watches for it."""
    return Arrival(session, finder) if os.environ.get(CALL) else None
