"""The page in docs/ about sharding is a program, and prints what it says."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "sharding.md").read_text()


def test_the_page_runs_and_prints_what_it_says(capsys):
    exec("\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)), {})
    (printed,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert capsys.readouterr().out == printed
