"""One expression of the program's, followed through a step: where its value comes from, where it changes, who takes it."""
