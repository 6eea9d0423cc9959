"""Ladder: what a provider's author should write next.

In:  a device's name; each rung runs its cases on the floor `run`.
Out: a `Climb`: the `Landing` on each rung, and for a failure the `Function` to write or mend.
"""
