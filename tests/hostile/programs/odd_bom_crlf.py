# stdin: none
"""A byte order mark, CRLF line ends, a form feed, tabs and no newline at the end."""
import sys

class Simulation:
	total = 0.0

	def step(self, size=0.5):
		self.total += size; return \
			self.total

simulation = Simulation()
text = """two
lines"""
for step in range(3):
	total = simulation.step(); print(step, total, repr(text), "ä✓")
	print(sys._getframe().f_lineno)
print(len(open(__file__, "rb").read()), __doc__)
if step: print("last line")