"""Covering arrays: situations that meet every feasible pair of values, made from the models that families state."""
