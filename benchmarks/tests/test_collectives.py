"""The benchmark of collectives; its timings decide nothing here."""

import pytest
from click.testing import CliRunner
from ep_benchmarks import collectives
from ep_benchmarks.cli import command

import ep


def test_rows_are_printed(monkeypatch):
    monkeypatch.setattr(collectives, "COUNTS", (1, 1000))
    monkeypatch.setattr(collectives, "_MOST_ROUNDS", 2)
    done = CliRunner().invoke(command, ["collectives", "--provider", "cpu", "--ranks", "3"])
    assert done.exit_code == 0, done.output
    first, *lines = done.output.splitlines()[1:]
    assert first.startswith("threads that meet at a barrier")
    assert [line.split(" bytes")[0] for line in lines] == [
        f"all_reduce {op} of {nbytes}" for nbytes in (4, 4000) for op in ("sum", "mean")
    ]
    assert all("of two copies" in line for line in lines)


def test_error_of_one_rank_ends_the_others(monkeypatch):
    tensor = ep.Device.tensor
    given = []

    def refuse(self, *what):
        given.append(what)
        if len(given) == 4:  # after the copies of the limit: one rank has no operand, and the other goes to the barrier
            raise ep.OutOfMemoryError("no room", requested=1, free=0, reserved=0)
        return tensor(self, *what)

    monkeypatch.setattr(collectives, "_MOST_ROUNDS", 2)
    monkeypatch.setattr(ep.Device, "tensor", refuse)
    with pytest.raises(ep.OutOfMemoryError, match="no room"):
        next(collectives.all_reduce_rows(ep.device("cpu:0"), 2, with_gloo=False))
