"""Stream: a device, and the order in which its work is done.

In:  verbs and launches that users call, and what a provider's stream runs.
Out: a `Device`, its `Stream`s and `Event`s, a `Graph` of captured work. Whatever comes to a stream passes its `doors`, and then
runs as one of the `verbs`.
"""
