"""Situations: what may differ between two launches of one cell, stated as data, from which cases are constructed.

model    : dimensions, their values, and values that never meet
array    : the situations that a family's folder keeps, `situations.txt`; `python tools situations` writes them
extents, forms, starts, manner : what the values of the dimensions that all families share mean
family   : the base of families that construct cases
"""
