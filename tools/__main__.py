"""`python tools COMMAND`."""

from ep.ground.console import begin, end
from ep_tools.cli import run_command

if __name__ == "__main__":
    begin()
    end(run_command())
