"""The commands of `python tools`, called in this process."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from ep_tools.cli import run_command


class Done(NamedTuple):
    """How a command ended.

    lines : what it said on the standard error
    """

    code: int
    output: str
    lines: list[str]


@pytest.fixture
def tools(capsys):
    def run(*words):
        code = run_command([str(word) for word in words])
        said = capsys.readouterr()
        return Done(code, said.out, said.err.splitlines())

    return run
