"""Claims: what a run showed that a provider could claim.

In:  a `Report`, and the claims.toml that is there.
Out: what was `Shown`, as few patterns as say just that (`cover`), and the text of the file with them in it.
"""
