"""The definitions of the ops as NumPy functions on arrays that `reference.widened` gives, a module a group.

Floating arguments are float64, so that a float32 result can be judged, complex ones complex128; integers are of their
own type and wrap modulo 2^n, as NumPy's arrays do. Functions that cancel return (value, S) with S the sum of |terms| of
the stated definition.
"""
