"""IPython and Jupyter: a cell that fails is diagnosed, and an error is told where it belongs."""
