"""Ground: what knows of no device, no memory and no plug-in.

In:  what callers give and strangers say.
Out: the words of a refusal (`glimpse`, `words`, `keywords`), checked arguments (`truth`), files read with a limit (`textfile`); a
`Turn`, a wait of the host (`waiting`), a `Callback`; the `Ledger` of a stream and the `Failure` that it keeps.
"""
