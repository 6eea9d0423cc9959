import pytest
from ep_onnx import Session

import ep


@pytest.fixture
def session():
    """Return a function that makes a session of a model on a device; it is closed at the end."""
    made = []

    def make(proto, device="cpu:0"):
        made.append(Session(proto, ep.device(device)))
        return made[-1]

    yield make
    for each in made:
        each.close()
