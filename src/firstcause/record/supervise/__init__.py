"""The parent of an observed command: starts it, passes signals on, and says afterwards how it ended."""
