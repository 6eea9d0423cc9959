"""Late errors: work that fails after its verb has returned is reported once and by name; a lost device stays lost.

Each case runs in a process of its own, where the device is asked to fail by `ep.spi.Device.inject`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ep.errors import place

from ep_conformance.fixture.faulty import run_faulty
from ep_conformance.fixture.kernel import kernel_of
from ep_conformance.runtime import case

if TYPE_CHECKING:
    from ep_conformance.fixture.trial import Trial


def _is_heard_once(trial: Trial, shown: dict[str, Any], *ways: str) -> None:
    """Fail the case unless each way of waiting names the failed work, no other verb does, and none does again."""
    trial.equal("verbs that raised before a wait", shown["early"], [])
    for way in ways:
        trial.equal(f"what {_WAYS[way]} names", shown[way], shown["failed"])
    trial.equal("what the next synchronize() raises", shown["again"], None)
    trial.equal("warnings at the end about a reported failure", shown["warnings"], [])


_WAYS = {"by_stream": "stream.synchronize()", "by_event": "event.synchronize()"}


@case(kernels=True, asks="faults", since="1.1")
def trap_is_heard_by_synchronize(trial: Trial) -> None:
    """A kernel's trap is raised by synchronize, once and by name; no work after it is started, and then all works."""
    kernel = kernel_of(trial)
    shown = run_faulty(trial, "trap", kernel.family.name, kernel.op, kernel.operand)
    _is_heard_once(trial, shown, "by_stream")
    trial.equal("memory that was to be filled after the trap", shown["behind"], "b'a'")


@case(asks="faults", since="1.1")
def failed_copy_is_heard_by_its_event(trial: Trial) -> None:
    """An event after a failed copy raises its error, then its stream does, which starts no later work; others go on."""
    shown = run_faulty(trial, "copy")
    _is_heard_once(trial, shown, "by_event", "by_stream")
    trial.equal("memory that only the upload before the failed one wrote", shown["behind"], "b'b'")
    trial.equal("what a stream raises that waited for the event", shown["by_other"], None)
    trial.equal("memory that it filled", shown["beside"], "b'e'")


@case(asks="faults", since="1.1")
def failed_node_of_a_graph_is_named(trial: Trial) -> None:
    """What fails inside a graph names the operation and the node beside stream and sequence; later nodes are not started."""
    shown = run_faulty(trial, "graph")
    _is_heard_once(trial, shown, "by_event", "by_stream")
    trial.equal("memory that was to be filled by a later node", shown["behind"], "b'c'")


@case(asks="faults", since="1.1")
def unheard_failure_is_a_warning_at_the_end(trial: Trial) -> None:
    """A process that ends before a wait reports the failure once, by name, and keeps its exit code."""
    shown = run_faulty(trial, "unheard", status=3)
    failed, warnings = shown["failed"], shown["warnings"]
    where = place(failed["op"], failed["stream"], failed["sequence"])
    trial.require(
        len(warnings) == 1 and where in warnings[0], f"the process warns once and of {where}; it warned {warnings}"
    )


@case(asks="faults", since="1.1")
def loss_is_permanent(trial: Trial) -> None:
    """Every wait and verb of a lost device says that it is lost, none hangs, closing raises nothing, other devices go on."""
    shown = run_faulty(trial, "loss")
    trial.equal("what raised no DeviceLostError", shown["forgotten"], [])
    trial.equal("event.is_done", shown["is_done"], [True, True])
    trial.equal("stream.is_idle", shown["is_idle"], [True, True])
    trial.equal("what close() raises", shown["closing"], [])
    trial.require(set(shown["elsewhere"]) <= {"b'a'"}, f"what other devices hold is {shown['elsewhere']}, needed b'a'")


@case(asks="faults", since="1.1")
def loss_lets_the_process_end(trial: Trial) -> None:
    """A process whose device is lost ends with its own exit code, and a new one has the device again."""
    run_faulty(trial, "end", status=4)
    trial.equal("memory in a new process", run_faulty(trial, "there")["content"], "b'a'")


@case(optional=True, asks="faults", since="1.1")
def lost_device_is_opened_again(trial: Trial) -> None:
    """Closed and opened again, a lost device works in the same process."""
    trial.equal("memory", run_faulty(trial, "opened_again")["content"], "b'a'")
