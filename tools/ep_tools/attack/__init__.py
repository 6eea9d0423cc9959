"""Attacks on EP, of a length that is given: what they find is an AssertionError that says how to see it again."""
