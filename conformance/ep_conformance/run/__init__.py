"""Run: cases in worker processes, which survive crashes and hangs of the cases.

In:  the `Planned` of a plan, and a `Job` that says on which device, with which profile and seed.
Out: a `Verdict` for each, once, as it is settled.

A case of a family takes one `path`: draw -> place -> launch -> judge -> repeat. Each step is a function of a module of its own
(`draw`, `place`, `launch`, the floor `judge`'s `result`, `repeat`) and calls none of the others:

draw    : a `Case` becomes a `Draw`, operands between red zones, that could show a fault
place   : a `Turn`, one launch of a draw, becomes `Placed`: memories of the device, uploaded in a stream
launch  : the placed operands become images of their memories after the launch
judge   : draws and images become an `Outcome`
repeat  : images of equal launches, and of parts of the work, are held to the same bits

Around it: a `worker` is the process and `workers` its parent's side, over a `channel`; the `Runner` hands out batches; `Tries`
and `victim` tell a failing case from a flaky one, and a culprit from its victims.
"""
