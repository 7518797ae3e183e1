"""The user's own start-up hook."""
import sys

sys.started_by = ["sitecustomize", __name__, __file__.rsplit("/", 2)[-2:], [p for p in sys.path if p.endswith("lib")]]
sys.argv_at_start = getattr(sys, "argv", None)
