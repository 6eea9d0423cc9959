"""Cases of the objects of the runtime: devices, streams, events, memories and their pool; their lifetimes, and threads that share them."""
