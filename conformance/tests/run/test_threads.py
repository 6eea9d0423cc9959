"""Workers on the CPU share work among threads, whatever the machine has, so that faults of sharing show."""

import pytest

CASE = "primitives/elementwise_unary/relu/float32/dense/size-1"


@pytest.mark.parametrize(("given", "units"), [(None, 3), ("1", 1)])
def test_worker_has_three_threads_unless_the_user_says_otherwise(command, given, units):
    command.environment.pop("EP_CPU_THREADS", None)
    variables = {} if given is None else {"EP_CPU_THREADS": given}
    device = command.run("cpu", "--filter", CASE, "--jobs", 2, **variables).json["device"]
    assert device["compute_units"] == units if given else device["compute_units"] >= units
