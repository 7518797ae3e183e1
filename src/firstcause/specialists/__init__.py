"""One package a specialist: each proposes causes for a symptom and settles them on evidence."""
