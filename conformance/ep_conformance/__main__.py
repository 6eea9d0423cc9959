"""The command `ep-conformance`. If the suite's dependencies are missing, it says in one line how to install them."""

import importlib.util
import signal
import sys
from typing import Final

from ep.ground.console import begin, end

__all__ = ["main"]

_EXTRA: Final = ("hypothesis", "scipy", "jinja2")


def main() -> None:
    """Run the command and exit with its code: 0 good, 1 failures, 2 wrong use, 3 unavailable, 130 interrupted."""
    begin()
    try:
        code = _run()
    except KeyboardInterrupt:  # while the command was still being imported, or a second one
        code = 130
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_IGN)  # a further one must not change the exit code
    end(code)


def _run() -> int:
    if any(importlib.util.find_spec(name) is None for name in _EXTRA):
        sys.stderr.write("ep-conformance needs its extra: pip install 'execution-provider[conformance]'\n")
        return 2
    from ep_conformance.cli import run_command  # noqa: PLC0415 - its imports need the extra
    from ep_conformance.garbage import collect_seldom  # noqa: PLC0415 - a module of ours, after the others

    collect_seldom()
    return run_command()


if __name__ == "__main__":
    main()
