import sys

import loops

print(sys.argv, __name__, __spec__.name, type(__loader__).__name__, sys.path[0].rsplit("/", 1)[-1])
print(loops.run())
