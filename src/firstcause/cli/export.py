"""Write the figures of a run for other programs: CSV, Parquet, or event files for TensorBoard.

Every row that was recorded, a process beside the other. Parquet needs the extra [parquet], TensorBoard's files the
extra [tensorboard].
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import tempfile

from firstcause.errors import InputError
from firstcause.record import private
from firstcause.record.folder import RunFolder
from firstcause.record.supervise import afterwards

NEEDS = {"parquet": "pyarrow", "tensorboard": "tensorboard"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="?", default="last", metavar="RUN", help="a run's folder or id; the last one"
    )
    parser.add_argument("--format", choices=["csv", *NEEDS], default="csv", help="default: csv")
    parser.add_argument(
        "--to", default=".", metavar="DIR", help="default: this folder; made where there is none"
    )
    parser.add_argument(
        "-f", "--force", action="store_true", help="replace what an earlier export has written"
    )


def main(args: argparse.Namespace) -> int:
    """Write DIR/ID.csv, DIR/ID.parquet, or event files below DIR/ID; 0."""
    package = NEEDS.get(args.format)
    if package is not None and importlib.util.find_spec(package) is None:
        message = f"--format {args.format} needs the package {package}, which is not installed"
        raise InputError("exchange-missing", message, f"pip install 'firstcause[{args.format}]'")
    run = afterwards.found(args.run, os.getcwd())
    name = run.run().id
    ending = "" if args.format == "tensorboard" else f".{args.format}"
    out = os.path.join(args.to, f"{name}{ending}")
    try:
        os.makedirs(args.to, exist_ok=True)
        if os.path.exists(out) and not args.force:
            message = f"{out} exists"
            raise InputError("output-exists", message, "choose another folder with --to, or -f to replace it")
        # Beside what it becomes: it is whole before it has its name.
        with tempfile.TemporaryDirectory(prefix=".firstcause-", dir=args.to) as scratch:
            made = os.path.join(scratch, "made")
            count = _write(run, args.format, made)
            if os.path.isdir(out):
                shutil.rmtree(out)
            os.replace(made, out)
    except OSError as error:
        message = f"{out} cannot be written: {error.strerror or error}"
        raise InputError("export-unwritable", message, "choose another folder with --to") from error
    print(f"{out}: {count} rows")
    return 0


def _write(run: RunFolder, form: str, path: str) -> int:
    if form == "csv":
        from firstcause.exchange.outgoing.csv_file import write_csv

        with open(path, "w", encoding="utf-8", newline="", opener=private.opener) as file:
            return write_csv(run, file)
    if form == "parquet":
        from firstcause.exchange.outgoing.parquet_file import write_parquet

        with open(path, "wb", opener=private.opener) as binary:
            return write_parquet(run, binary)
    from firstcause.exchange.outgoing.event_files import write_events

    private.make_folder(path)
    return write_events(run, path)
