"""The smallest program that fails the same way: from the tape of a failing step to a script that needs torch alone."""
