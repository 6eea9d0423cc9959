"""Strangers: faults of a right result under conditions that others thought of than those who wrote the suite's cases.

The conditions are taken from mistakes that kernels of vendors and frameworks had; `why` of each names one.

condition  : what a condition is, and what it sees of a launch
sight      : how conditions look at a launch: its tensors, rows, contents, addresses and numbers
groups     : names of families that are alike
extents    : shapes: tails, tiles, limits of grids
strides    : how operands lie: gaps, transposed, reversed and repeated dimensions
addresses  : where operands lie: alignment, neighbours, the output in the memory of an input
contents   : numbers that operands hold: ties, ends of types, NaN, zeros
indices    : contents that name places: indices, labels, conditions, masks, the state of a generator
attributes : axes, k, groups, epsilon, optional operands and numbers given at launch
products   : matrix products and attention
windows    : convolutions and pools
order      : launches repeated, and launches in graphs
table      : all conditions
fault      : what becomes of a right result
"""
