"""Half precision and loss scaling: what is scaled, when, and by what."""
