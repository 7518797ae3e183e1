# launch: python {file} --lr 1 "two words" ""
"""A program without torch."""
import sys

print(sys.argv, sys.path[0] == __file__.rsplit("/", 1)[0], __name__, __spec__, __package__, __doc__)
print(__file__ == sys.argv[0], sys.orig_argv[1:], globals().get("__cached__"), type(__loader__).__name__, sorted(globals()))
print(sys.flags, sys.warnoptions, sys._xoptions, sys.dont_write_bytecode, sys.pycache_prefix, sys.flags.hash_randomization)
print([m for m in ("torch", "numpy", "transformers", "IPython") if m in sys.modules])
print(sys.path[:1] == [__file__.rsplit("/", 1)[0]], len(sys.path), any("firstcause" in p for p in sys.path))
