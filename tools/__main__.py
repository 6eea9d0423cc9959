"""`python tools COMMAND`."""

import sys

from ep_tools.cli import run_command

if __name__ == "__main__":
    sys.exit(run_command())
