"""Peers: what a user would call instead of EP. Each comes in by the entry-point group `ep_bench.peers`."""
