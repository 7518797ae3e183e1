"""The steps of `firstcause case`, one module each."""
