"""The local carrier: ranks in one process, by copies, additions and events of EP, on devices of any providers.

A collective is a meeting of its ranks' streams. When all have come, each rank does its share: it writes what it alone
writes then, and reads what nobody writes then, in any rank's memory. When all have done so, the streams go on. So no share
waits for another, and the order of the terms of a sum is that of the ranks.
"""
