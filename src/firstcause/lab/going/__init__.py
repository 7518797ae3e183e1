"""A program that is already going, looked at from outside: its processes, where each one stands, who waits for whom. No torch."""
