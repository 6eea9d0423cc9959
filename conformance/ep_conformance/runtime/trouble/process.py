"""Processes: Ctrl-C during a wait, forks, and the end with work under way, failed or stuck."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ep_conformance.fixture.process import run_alone
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial

_INTERRUPTED = """
opened = threading.Event()
memory, result = device.allocate(16), bytearray(16)
for turn, wait in enumerate((stream.synchronize, lambda: stream.record().synchronize(), device.synchronize, stream.close)):
    opened.clear()
    stream.call(lambda: opened.wait(20))
    stream.fill(memory, bytes([turn + 1]))
    stream.download(result, memory)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        wait()
    except KeyboardInterrupt:
        opened.set()
    else:
        raise SystemExit("no KeyboardInterrupt")
    stream.synchronize(20)
    assert bytes(result) == bytes([turn + 1]) * 16, (turn, result)
stream.close()
memory.close()
device.close()
print("usable")
"""

_FORKED = """
memory = device.allocate(64)
other = memory[8:16]
event = stream.record()
event.synchronize(20)
stream.fill(memory, b"p")
stream.synchronize(20)
child = os.fork()
if not child:
    uses = {
        "allocate": lambda: device.allocate(8),
        "stream": device.stream,
        "synchronize": device.synchronize,
        "device.close": device.close,
        "fill": lambda: stream.fill(memory, b"c"),
        "call": lambda: stream.call(list),
        "record": stream.record,
        "wait": lambda: stream.wait(event),
        "stream.synchronize": stream.synchronize,
        "is_idle": lambda: stream.is_idle,
        "event.is_done": lambda: event.is_done,
        "event.synchronize": event.synchronize,
    }
    for name, use in uses.items():
        try:
            use()
        except ep.ClosedError as error:
            if "fork" not in str(error):
                print(name, "says", error, flush=True)
        except BaseException as error:
            print(name, "raised", repr(error), flush=True)
        else:
            print(name, "raised nothing", flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
result = bytearray(64)
stream.download(result, memory)
stream.synchronize(20)
assert result == b"p" * 64, result
print("the parent works on")
"""

_FORKED_AT_WORK = """
memory, result = device.allocate(1 << 16), bytearray(1 << 16)
for turn in range(5):
    for step in range(20):
        stream.fill(memory, bytes([step]))
    child = os.fork()
    if not child:
        try:
            mine = ep.device(device.name)
            assert mine is not device
            for synchronous in (None, True, False):
                try:
                    queue = mine.stream(synchronous=synchronous)
                except ep.UnsupportedError:
                    continue
                own, seen = mine.allocate(100), bytearray(100)
                queue.fill(own, b"c")
                queue.call(list)
                queue.download(seen, own)
                queue.synchronize(20)
                assert seen == b"c" * 100, seen
                queue.close()
                own.close()
            mine.close()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    stream.download(result, memory)
    stream.synchronize(20)
    assert bytes(result) == bytes([19]) * (1 << 16)
print("all children worked")
"""


@case(asks="call")
def ctrl_c_ends_a_wait_and_nothing_else(trial: Trial) -> None:
    """Ctrl-C during synchronize() of stream, event and device, and during close(), leaves all usable."""
    printed, _ = run_alone(trial, _INTERRUPTED)
    trial.equal("what the process printed", printed, "usable\n")


@case(asks="fork")
def objects_of_before_a_fork_are_closed_in_the_child(trial: Trial) -> None:
    """In a forked child all that was made before raises ClosedError that names the fork; the parent works on."""
    printed, _ = run_alone(trial, _FORKED)
    trial.equal("what the process printed", printed, "the parent works on\n")


@case(asks="fork")
def child_of_a_fork_safe_provider_works_by_itself(trial: Trial) -> None:
    """A child forked while streams are at work opens the device anew; of a provider that is not fork-safe it cannot."""
    if trial.device.provider.manifest.fork_safe:
        printed, _ = run_alone(trial, _FORKED_AT_WORK)
        trial.equal("what the process printed", printed, "all children worked\n")
        return
    program = """
child = os.fork()
if not child:
    try:
        ep.device(device.name)
    except ep.UnavailableError as error:
        print("fork" in str(error), flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    trial.equal("whether the refusal names the fork", run_alone(trial, program)[0], "True\n")


@case()
def end_waits_for_the_work(trial: Trial) -> None:
    """A process that ends with work under way finishes it first, open and dropped streams' alike."""
    program = """
import time
second = device.stream()
memory, results = device.allocate(1 << 20), [bytearray(1 << 20), bytearray(1 << 20)]
for each, result in zip((stream, second), results):
    each.call(lambda: time.sleep(0.05))
    each.fill(memory[:1000], b"e")
    each.download(result, memory)
    each.call(lambda result=result: os.write(1, bytes(result[0:3]) + b"\\n"))  # at one go: two threads do
del second, each
raise SystemExit(5)
"""
    printed, _ = run_alone(trial, program, status=5)
    trial.equal("what the process printed", printed, "eee\n" * 2)


@case()
def end_warns_of_failed_work(trial: Trial) -> None:
    """A process that ends before a wait raised an error reports that error, and keeps its exit code."""
    program = """
def fail():
    raise KeyError("unheard")
stream.call(fail)
memory = device.allocate(100)
raise SystemExit(3)
"""
    _, said = run_alone(trial, program, status=3)
    trial.require("unheard" in said and "nobody waited for it" in said, f"the warning at the end: {said!r}")


@case(asks="call")
def end_does_not_wait_for_ever(trial: Trial) -> None:
    """A process whose function never returns ends after EP_EXIT_SECONDS, with a warning and its own exit code."""
    program = """
memory = device.allocate(1000)
stream.call(threading.Event().wait)
stream.upload(memory, bytes(1000))
stream.fill(memory, b"x")
print("enqueued", flush=True)
raise SystemExit(7)
"""
    printed, said = run_alone(trial, program, status=7, EP_EXIT_SECONDS="0.2")
    trial.equal("what the process printed", printed, "enqueued\n")
    trial.require("under way" in said and "stream0" in said, f"the warning at the end: {said!r}")
