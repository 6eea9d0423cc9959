"""Print the table of saboteurs and the cases that kill them: `python -m ep_conformance.saboteurs`."""

import sys

from ep_conformance.saboteurs.table import table_lines

sys.stdout.write("\n".join(table_lines()) + "\n")
