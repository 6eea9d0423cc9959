"""Files of the packages that are made from the families: a stub for type checkers, and claims."""
