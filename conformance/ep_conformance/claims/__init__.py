"""Claims: from the results of a run to the claims that a provider can make.

In: a `Report`, and the present claims.toml. Out: the cells that hold (`Shown`), the fewest patterns that match just
these (`cover`), and the file's new text.
"""
