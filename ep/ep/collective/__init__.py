"""Collective: ranks that compute together.

In:  a device, and a group that a carrier made.
Out: a `Communicator`, on which `Collective`s of `work` are made runnable.
"""
