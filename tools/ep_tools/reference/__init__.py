"""The tables that transcendental ops are judged by, and the mathematics that they are made from."""
