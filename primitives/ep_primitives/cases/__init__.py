"""Cases: descriptors with the data that they run on, and data that can show a fault."""
