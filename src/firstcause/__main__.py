"""`python -m firstcause` is the `firstcause` command."""

from firstcause.cli.main import run

if __name__ == "__main__":
    run()
