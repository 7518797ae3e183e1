"""What `firstcause runs` does, one file each."""
