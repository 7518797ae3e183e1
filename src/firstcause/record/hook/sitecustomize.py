"""Started by every Python that inherits the environment of `firstcause run`; does nothing otherwise.

It takes itself off sys.path, starts the observer, and then loads the sitecustomize that it shadows. Where
there is none it ends with the ImportError that site expects, so that sys.modules stays as it would be.
"""

import os
import sys


def _observe(folder, home, before):
    import importlib.util

    package = os.path.join(home, "firstcause")
    if "firstcause" not in sys.modules:
        # By file, not by sys.path: firstcause may live in another environment, whose other packages
        # must not become visible to the program.
        spec = importlib.util.spec_from_file_location(
            "firstcause", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules["firstcause"] = module
        spec.loader.exec_module(module)
    from firstcause.record.observe import startup

    startup.install(folder, before)


def _start():
    before = frozenset(sys.modules)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    folder, home = os.environ.get("FIRSTCAUSE_RUN"), os.environ.get("FIRSTCAUSE_HOME")
    if folder and home and os.path.isdir(folder):
        plain = sys.dont_write_bytecode
        try:
            # No .pyc of ours where a limit on file sizes could cut it short.
            import resource

            limited = resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
            sys.dont_write_bytecode = plain or limited
            # It is sealed on the way where it runs the program again, and may write none afterwards either.
            sealed = "FIRSTCAUSE_REPLAY" in os.environ
            _observe(folder, home, before)
            sys.dont_write_bytecode = plain or sealed
        except Exception as error:  # noqa: BLE001 - ours may not stop the program
            sys.dont_write_bytecode = plain
            try:
                path, flags = (
                    os.path.join(folder, "internal-errors.log"),
                    os.O_WRONLY | os.O_CREAT | os.O_APPEND,
                )
                with os.fdopen(os.open(path, flags, 0o600), "a") as log:
                    log.write(f"start-up in {sys.argv}: {error!r}\n")
            except OSError:
                # A record that cannot be written must not stop the program.
                return


def _chain():
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start()
_chain()
