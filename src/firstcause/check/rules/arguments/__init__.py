"""Arguments and names that the version in use does not have, or not any more."""
