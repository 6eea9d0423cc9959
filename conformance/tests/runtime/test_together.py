"""What goes wrong in one of several threads goes wrong in the case."""

import threading

import pytest
from ep_conformance.fixture.together import together

import ep


@pytest.mark.parametrize("kind", [ep.EpError, ValueError, TypeError, RuntimeError, ZeroDivisionError, AssertionError])
def test_error_of_one_thread_is_raised(kind):
    def work(place):
        if place == 2:
            raise kind("in the third")

    with pytest.raises(kind, match="in the third"):
        together(4, work)


def test_work_is_done_at_the_same_time_by_each():
    meeting, seen = threading.Barrier(3, timeout=10), set()

    def work(place):
        meeting.wait()
        seen.add(place)

    together(3, work)
    assert seen == {0, 1, 2}
