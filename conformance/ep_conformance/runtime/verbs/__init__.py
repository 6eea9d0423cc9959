"""Cases of the verbs of a stream: fills, copies, transfers, calls of the host, waits, and many of them behind one another."""
