"""Cases of captured work: what a capture records, what a graph replays, and what its slots bind."""
