"""The limits of a machine, measured beside what is held against them."""
