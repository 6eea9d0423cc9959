"""Buffers over memory that is not the driver's own."""
