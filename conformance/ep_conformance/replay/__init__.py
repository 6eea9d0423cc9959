"""Replay: one failing case in a file, which runs again anywhere.

In:  a case that failed, run again in a `Trial` that keeps its data (`evidence`, `smaller`).
Out: a `Replay` with its `Work` and the `Smallest` work that fails as well, written and read as JSON (`file`, `values`), and as a
`script`; the `Outcome` of running such a file today.
"""
