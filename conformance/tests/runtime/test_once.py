"""What is known of a device is asked once, and ends with it."""

import gc
import weakref

from ep_conformance.fixture.once import once_a_device


class Device:
    pass


def test_each_device_is_asked_once():
    asked = []

    @once_a_device
    def place(device):
        asked.append(device)
        return len(asked)

    first, second = Device(), Device()
    assert [place(first), place(second), place(first), place(second)] == [1, 2, 1, 2]
    assert asked == [first, second]


def test_no_device_is_kept_alive():
    known = once_a_device(lambda _: None)
    device = Device()
    known(device)
    gone = weakref.ref(device)
    del device
    gc.collect()
    assert gone() is None
