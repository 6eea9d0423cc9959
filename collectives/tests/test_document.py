"""The page in docs/ about collectives is a program."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "collectives.md").read_text()


def test_the_page_runs():
    exec("\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)), {})
