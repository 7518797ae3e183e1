# env: LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 PYTHONIOENCODING=ascii:backslashreplace
"""An ASCII locale: the source is UTF-8 all the same, and messages are escaped."""
import locale
import sys

print(locale.getpreferredencoding(False), sys.getfilesystemencoding(), sys.stdout.encoding, sys.stdin.errors, "é✓")


class Simulation:
    total = 0.0

    def step(self, size=0.5):
        self.total += size
        return self.total


größe = Simulation()
for schritt in "äé✓":
    print(schritt, ascii(schritt), größe.step())
    print("\N{GREEK SMALL LETTER ALPHA}", größe.step())
