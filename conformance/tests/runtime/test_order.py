"""Failures of the runtime say which order was violated: by name, with the operations and their streams."""

import numpy as np
import pytest
from ep_conformance.fixture.order import Order
from ep_conformance.fixture.trial import Trial
from ep_conformance.judge.error import CaseError
from ep_conformance.programs.blame import blame
from ep_conformance.programs.launches import Capture, Launch, Replay
from ep_conformance.programs.look import Look, MismatchError
from ep_conformance.programs.moves import Copy, Download, Fill, UploadNoise
from ep_conformance.programs.op import Model
from ep_conformance.programs.order import HOST, Span
from ep_conformance.programs.points import CallRead, Record, Scribble, Synchronize, Wait
from ep_conformance.programs.program import Mix, Program

import ep

M0, M1, H1 = Span("m0", 0, 16), Span("m1", 0, 16), Span("h1", 0, 16)
DOWNLOAD, FILL = Download("a", H1, M0), Fill("b", Span("m0", 4, 8), b"\xff")
COPY, UPLOAD = Copy("b", M1, M0), UploadNoise("a", M0, 7)


def negative(content):
    return 255 - content


def program(*ops):
    return Program(Mix(()), {"a": (False, 0), "b": (False, 0)}, {"m0": 0, "m1": 0}, ops)


def content(ops, span):
    """Return what a span holds once the ops are done in this order."""
    model = Model(negative, 1)
    model.bytes = {name: held.copy() for name, held in program().contents()}
    for op in ops:
        op.predict(model)
    return model[span]


def whole(name):
    return Look(Span(name, 0, 256))


def blamed(ops, done, look):
    """Return who is blamed for a program of which this is what was done, in this order."""
    return blame(program(*ops), MismatchError("", look, content(done, look.span)), negative)


EVENT, WAIT = Record("a", "e1"), Wait("b", "e1")
LAUNCH = Launch("b", M0, M1)
GRAPH = Replay("a", Capture(HOST, "g", "a", (Copy("a", M1, M0), FILL), ()), ())


@pytest.mark.parametrize(
    ("ops", "done", "look", "then", "first"),
    [
        ((DOWNLOAD, EVENT, WAIT, FILL), (FILL, DOWNLOAD), whole("h1"), FILL, DOWNLOAD),
        ((UPLOAD, EVENT, WAIT, COPY), (COPY, UPLOAD), whole("m1"), COPY, UPLOAD),
        ((UPLOAD, EVENT, WAIT, FILL), (FILL, UPLOAD), whole("m0"), FILL, UPLOAD),
        ((UPLOAD, EVENT, WAIT, LAUNCH), (LAUNCH, UPLOAD), whole("m1"), LAUNCH, UPLOAD),
        ((UPLOAD, GRAPH), (UPLOAD, FILL, COPY), whole("m1"), FILL, "a.copy(m1[0:16], m0[0:16])"),
    ],
)
def test_pair_that_was_done_the_other_way_round_is_named(ops, done, look, then, first):
    assert blamed(ops, done, look) == f"as if {then} had not waited for {first}, which comes before it"


def test_what_the_host_and_a_callback_saw_too_early_is_named():
    for seer in (Scribble(HOST, H1, 3), CallRead("a", H1)):
        ops = (DOWNLOAD, Synchronize(HOST, "a"), seer)
        assert blamed(ops, (), Look(H1, seer)) == f"as if {seer} had not waited for {DOWNLOAD}, which comes before it"


def test_what_was_not_done_is_named_and_nobody_for_what_no_order_gives():
    assert blamed((UPLOAD, COPY), (UPLOAD,), whole("m1")) == f"as if {COPY} had not been done"
    short = content((UPLOAD, COPY), whole("m1").span).copy()
    short[15] ^= 1
    assert blame(program(UPLOAD, COPY), MismatchError("", whole("m1"), short), negative) == ""


def test_order_explains_what_all_wrong_bytes_are():
    device = ep.device("cpu:0")
    trial, first, then = Trial(device, "case"), device.stream(), device.stream()
    order = Order(("copy", first), ("fill", then), otherwise=7)
    with pytest.raises(CaseError) as caught:
        trial.same_bytes("memory", np.array([7, 7, 1], np.uint8), np.array([7, 2, 1], np.uint8), order)
    assert str(caught.value).endswith(
        f"on cpu:0: the fill on {then.name} did not wait for the copy on {first.name}, which comes before it"
    )
    with pytest.raises(CaseError, match=r"differ\) on cpu:0$"):
        trial.same_bytes("memory", np.array([7, 9], np.uint8), np.array([2, 2], np.uint8), order)
