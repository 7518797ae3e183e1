"""More than was asked for: machinery that the task, the hardware or the library in use does not need."""
