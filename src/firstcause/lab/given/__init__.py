"""What a failing step was given beside what other steps are given: the properties that the others lack."""
