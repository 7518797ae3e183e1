"""What is kept longer than it is needed, and what is built that nobody uses."""
