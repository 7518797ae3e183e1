"""Where people work: the test suite, the notebook, the editor and CI; each asks the rooms below and shows the answer."""
