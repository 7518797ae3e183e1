"""A command followed from its first line: what every optimizer step begins with, in hashes, to compare one run with another."""
