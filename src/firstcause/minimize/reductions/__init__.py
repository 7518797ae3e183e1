"""One way of making a program smaller a file: each gives candidates, the boldest first, and runs none of them."""
