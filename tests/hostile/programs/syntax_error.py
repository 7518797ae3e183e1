# expect-exit: 1
"""The script does not compile: no recorder's words may stand in the traceback."""
for step in range(3):
    optimizer.step()
    print("unclosed"
