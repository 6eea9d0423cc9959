"""Reentry: signal handlers and finalizers that use the device, wherever in the provider's own code they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep_conformance.fixture.process import run_alone
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

# Verbs in a row, and a checkpoint that interrupts them: each reads bytes that no other writes.
_PROGRAM = """
import faulthandler, gc, itertools, random, time
import numpy as np
from ep_conformance.fixture.kernel import find_kernel
faulthandler.dump_traceback_later(30, exit=True)
dice, marks, kernel = random.Random({seed}), itertools.count(1), find_kernel(device)
primitive = kernel.descriptor(64).on(device) if kernel else None
depth = count = 0

def values():
    return np.full(64, 0.5 + next(marks) % 997 / 1000, np.float32)

def expected(x):
    return kernel.family.reference(kernel.descriptor(64), {{kernel.operand: x}}).value

def checkpoint(stream):
    x, back = values(), np.empty(64, np.float32)
    first, second = device.allocate(256), stream.allocate(256)
    stream.upload(first, x)
    stream.copy(second, first)
    if primitive and dice.random() < 0.5:
        out = device.allocate(256)
        primitive(stream, **{{kernel.operand: second, "out": out}})
        stream.download(back, out)
        stream.synchronize()
        assert np.allclose(back, expected(x), 1e-3), ("launch", back[:4], expected(x)[:4])
        out.close()
    else:
        stream.download(back, second)
        stream.synchronize()
        assert (back == x).all(), ("bytes", back[:4], x[:4])
    stream.free(second)
    first.close()

def interrupt(*_):
    global depth, count
    if depth < 2:
        depth += 1
        try:
            checkpoint(stream if dice.random() < 0.7 else device.stream())
            count += 1
        except ValueError as error:  # a sentence is an answer
            print(type(error).__name__, error)
        finally:
            depth -= 1

class Litter:
    def __del__(self):
        interrupt()

def work(turns):
    living = []
    for turn in range(turns):
        x = values()
        memory = device.allocate(256)
        stream.upload(memory, x)
        living.append((memory, x))
        stream.wait(stream.record())
        checkpoint(stream)
        if len(living) > 8:
            memory, x = living.pop(0)
            back = np.empty(64, np.float32)
            stream.download(back, memory)
            stream.synchronize()
            assert (back == x).all(), ("living", back[:4], x[:4])
"""

_SIGNALS = """
def on_signal(*_):
    signal.setitimer(signal.ITIMER_REAL, dice.uniform(2e-5, 2e-3))
    interrupt()
signal.signal(signal.SIGALRM, on_signal)
signal.setitimer(signal.ITIMER_REAL, 1e-3)
begin = time.monotonic()
try:
    while count < 150 and time.monotonic() < begin + 15:
        work(10)
finally:
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
work(3)
assert count, "no handler came to its end"
print("handlers worked")
"""

_FINALIZERS = """
gc.set_threshold(40, 2, 2)
begin = time.monotonic()
while count < 100 and time.monotonic() < begin + 15:
    loop = [Litter()]
    loop.append(loop)
    work(1)
gc.set_threshold(700)
work(3)
print("finalizers worked")
"""


@case(since="1.1")
def signal_handlers_may_use_the_device(trial: Trial) -> None:
    """A handler that allocates, copies, launches and synchronises inside any verb is right, or told no; so is that verb."""
    said, errors = run_alone(trial, _PROGRAM.format(seed=trial.seed) + _SIGNALS)
    trial.require("handlers worked" in said, f"the program comes to its end; it said {said}{errors}")


@case(since="1.1")
def finalizers_may_use_the_device(trial: Trial) -> None:
    """What the garbage collector finalizes inside any verb may use the device as a handler may."""
    said, errors = run_alone(trial, _PROGRAM.format(seed=trial.seed) + _FINALIZERS)
    trial.require("finalizers worked" in said, f"the program comes to its end; it said {said}{errors}")
