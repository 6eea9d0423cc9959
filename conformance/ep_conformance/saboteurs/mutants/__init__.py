"""Mutants: defects made by machine, a fault of the result under one value or one pair of values of a family's dimensions.

fault    : what becomes of a right result
trigger  : whether a launch has a value, by what its kernel sees of it
mutant   : which there are; `made` draws them
kernel   : the honest kernel with the mutant of the moment
hunt     : a process that sets the cases on mutants, one after the other
score    : how many died, by family, by dimension and by fault
"""
