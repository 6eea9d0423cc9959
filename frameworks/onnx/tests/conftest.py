import ep_simt
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


@pytest.fixture
def lacking(monkeypatch):
    """Let opencl:0 have neither tangents nor softmaxes: it has all kernels, and here is a device that has not."""
    accepts = ep_simt.Portable.accepts

    def refuse(self, descriptor, info):
        if descriptor.family == "softmax" or descriptor.key.op == "tan":
            message = "not on this device"
            raise ep.UnsupportedError(message)
        return accepts(self, descriptor, info)

    monkeypatch.setattr(ep_simt.Portable, "accepts", refuse)
