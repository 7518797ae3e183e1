"""`firstcause runs pack`."""

from __future__ import annotations

import argparse
import os

from firstcause.cli.output import write_json
from firstcause.record import restore
from firstcause.record.pack import MANIFEST, pack
from firstcause.record.sizes import size
from firstcause.record.supervise import afterwards


def main(args: argparse.Namespace) -> int:
    """Pack one run."""
    folder = afterwards.found(args.run, os.getcwd())
    out = args.output or os.path.basename(folder.path) + ".tar.gz"
    restore.refuse_existing(out, args.force)
    packed = pack(folder, out, frozenset(args.without))
    if args.json:
        write_json(args.json, {"archive": out, "files": packed.files, "left_out": packed.left_out})
    if args.json != "-":
        print(f"{out}: {len(packed.files)} files, {size(os.path.getsize(out))}; {MANIFEST} lists them")
        for name, why in packed.left_out.items():
            print(f"  left out: {name} ({why})")
    return 0
