"""Print the table of saboteurs: `python -m ep_conformance.saboteurs`. With `--hunt N`, try N seeds on each, and print JSON."""

import argparse
import json
import sys

from ep_conformance.saboteurs.hunt import hunt
from ep_conformance.saboteurs.table import SABOTEURS, table_lines

parser = argparse.ArgumentParser(prog="python -m ep_conformance.saboteurs", description=__doc__)
parser.add_argument("--hunt", type=int, metavar="N", help="run each one's case with up to N seeds; they are installed")
parser.add_argument("names", nargs="*", help="saboteurs to hunt, in place of all")
options = parser.parse_args()
if options.hunt is None:
    sys.stdout.write("\n".join(table_lines()) + "\n")
for saboteur in SABOTEURS if options.hunt is not None else ():
    if saboteur.name in options.names or not options.names:
        sys.stdout.write(json.dumps(hunt(saboteur, options.hunt)._asdict()) + "\n")
        sys.stdout.flush()
