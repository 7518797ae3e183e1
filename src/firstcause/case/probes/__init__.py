"""The scripts that print a piece of evidence again; copied into a case as they are, each beside its own JSON file."""
