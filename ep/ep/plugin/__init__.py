"""Plug-ins: providers and families that are installed, each looked at alone.

In:  entry points and the packages behind them, with provider.toml and claims.toml.
Out: a `Provider` and its devices, the `Family`s, what is wrong with either (`doctor`), and what a device can do, cell by cell
(`capabilities`).
"""
