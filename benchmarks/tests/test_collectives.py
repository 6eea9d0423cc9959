"""The benchmark of collectives; its timings decide nothing here."""

from click.testing import CliRunner
from ep_benchmarks import collectives
from ep_benchmarks.cli import command


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
