"""Plan: the cases of the suite, and those of them that a device has to pass. It launches nothing.

In:  the installed families, runtime cases and vendors' packages; a device's claims.toml and waivers.toml; a profile and a glob.
Out: a `Survey`: its `Subject`, and a `Planned` for each case, with its `Standing` and `Waiver`. Behind each id `catalogue` finds
the case itself: a `CellCase`, of a `Case` or a `Sweep`, or a `RuntimeCase`.
"""
