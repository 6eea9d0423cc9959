"""The ops as mathematics has them, in mpmath: their points, and their values to any precision. Nothing here knows NumPy."""
