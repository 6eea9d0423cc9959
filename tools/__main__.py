"""`python tools COMMAND`."""

from ep.ground.ending import end
from ep_tools.cli import run_command

if __name__ == "__main__":
    end(run_command())
