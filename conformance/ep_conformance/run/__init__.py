"""Run: cases in worker processes, which survive crashes and hangs of the cases.

In:  the `Planned` of a plan, and a `Job` that says on which device, with which profile and seed.
Out: a `Verdict` for each, once, as it is settled.

A case of a family takes the path of `steps`: draw -> place -> launch -> judge -> repeat.
Around it: a `worker` is the process and `workers` its parent's side, over a `channel`; the `Runner` hands out batches; `Tries`
and `victim` tell a failing case from a flaky one, and a culprit from its victims.
"""
