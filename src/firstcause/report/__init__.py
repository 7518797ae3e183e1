"""Results as people and programs read them: pure functions of a record, no files, no logic."""
