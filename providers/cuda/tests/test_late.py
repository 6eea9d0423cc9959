"""A kernel that faults: the device is lost, every later call says so, and the error names the launch that did it."""

from __future__ import annotations

from pathlib import Path

PROGRAM = Path(__file__).parents[3] / "tools" / "gpu" / "losses.py"


def test_loss_is_named_by_its_launch_its_node_or_its_neighbours(run, emulated):
    done = run(str(PROGRAM), driver=emulated)
    assert done.stdout == "launches: as it should\ngraph: as it should\nunnamed: as it should\n", done.stderr
    assert done.returncode == 0


def test_other_place_than_needed_is_told(run, emulated, tmp_path):
    text = PROGRAM.read_text(encoding="utf-8")
    wrong = tmp_path / "losses.py"
    wrong.write_text(text.replace('["exp 6 1"]', '["abs 6 0"]'), encoding="utf-8")
    done = run(str(wrong), driver=emulated)
    assert done.returncode == 1
    assert "graph: synchronize exp 6 1\n" in done.stdout
    assert "needed ['synchronize abs 6 0'," in done.stdout
